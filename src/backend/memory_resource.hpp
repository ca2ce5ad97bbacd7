#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <string>
#include <vector>

namespace gpulog::backend {

/// Thrown if an allocation would exceed the resource's limit or the machine refuses it. The executor adds rule and
/// relation.
class memory_exceeded : public std::exception {
 public:
  memory_exceeded(std::uint64_t requested_bytes, std::uint64_t used_bytes, std::uint64_t limit_bytes)
      : requested(requested_bytes), used(used_bytes), limit(limit_bytes) {}
  [[nodiscard]] const char* what() const noexcept override { return "memory limit exceeded"; }

  std::uint64_t requested;
  std::uint64_t used;
  std::uint64_t limit;  ///< 0 if the machine refused
  /// Purpose of the memory, from named_memory; nullptr for memory that the message names anyway.
  const char* purpose = nullptr;
};

/// Initial contents of an allocation.
enum class fresh_memory : std::uint8_t { zeroed, anything };

class named_memory;

/// Allocates all arrays of relations, sets and indexes: counts bytes and enforces a limit. Thread-safe.
class memory_resource {
 public:
  memory_resource() = default;
  memory_resource(const memory_resource&) = delete;
  memory_resource& operator=(const memory_resource&) = delete;
  virtual ~memory_resource() = default;

  /// @return at least `bytes` bytes, aligned to 64; nullptr for 0 bytes
  /// @throws memory_exceeded
  [[nodiscard]] void* allocate(std::uint64_t bytes, fresh_memory contents = fresh_memory::zeroed);
  void deallocate(void* memory, std::uint64_t bytes) noexcept;
  /// Resizes an allocation, possibly moving it. Keeps the first min(old, new) bytes; new bytes are zero.
  /// @throws memory_exceeded
  [[nodiscard]] void* resize(void* memory, std::uint64_t old_bytes, std::uint64_t new_bytes);
  /// Releases the pages of a range, whose contents are lost. The allocation stays counted.
  virtual void discard(void* memory, std::uint64_t bytes) noexcept = 0;

  /// Announces several allocations of the given size, so that a resource with slabs can place all in one slab. May have
  /// no effect.
  virtual void prepare(std::uint64_t /*allocations*/, std::uint64_t /*bytes*/) {}

  void set_limit(std::uint64_t bytes) { limit_ = bytes; }
  [[nodiscard]] std::uint64_t limit() const { return limit_; }
  [[nodiscard]] std::uint64_t used() const { return used_.load(std::memory_order_relaxed); }
  [[nodiscard]] std::uint64_t peak() const { return peak_.load(std::memory_order_relaxed); }
  [[nodiscard]] std::uint64_t allocations() const { return allocations_.load(std::memory_order_relaxed); }
  /// Describes the part of used() that does not belong to relations, for messages: ", of which 4096 for symbols and 64
  /// for records"; empty if there is no such part.
  [[nodiscard]] std::string named_uses() const;

 protected:
  virtual void* do_allocate(std::uint64_t bytes, fresh_memory contents) = 0;  ///< nullptr if refused
  virtual void do_deallocate(void* memory, std::uint64_t bytes) noexcept = 0;
  virtual void* do_resize(void* memory, std::uint64_t old_bytes,
                          std::uint64_t new_bytes) = 0;  ///< nullptr if refused

 private:
  friend class named_memory;

  void charge(std::uint64_t bytes);
  void release(std::uint64_t bytes) noexcept { used_.fetch_sub(bytes, std::memory_order_relaxed); }

  std::atomic<std::uint64_t> used_{0};
  std::atomic<std::uint64_t> peak_{0};
  std::atomic<std::uint64_t> allocations_{0};
  std::uint64_t limit_ = 0;  // 0: no limit
  std::vector<const named_memory*> named_;
};

/// A named part of a resource's memory: counted in the whole resource, and named in messages when an allocation fails.
/// Must be constructed and destroyed while no other thread uses the whole resource.
class named_memory final : public memory_resource {
 public:
  /// @param purpose completes "more bytes were needed for"; a string literal
  named_memory(memory_resource& whole, const char* purpose);
  ~named_memory() override;
  [[nodiscard]] const char* purpose() const { return purpose_; }
  void discard(void* memory, std::uint64_t bytes) noexcept override { whole_->discard(memory, bytes); }

 protected:
  void* do_allocate(std::uint64_t bytes, fresh_memory contents) override;
  void do_deallocate(void* memory, std::uint64_t bytes) noexcept override { whole_->deallocate(memory, bytes); }
  void* do_resize(void* memory, std::uint64_t old_bytes, std::uint64_t new_bytes) override;

 private:
  memory_resource* whole_;
  const char* purpose_;
};

/// Main memory: large arrays are separate mappings on huge pages (address translation dominates random probes), small
/// arrays come from the heap.
class host_memory final : public memory_resource {
 public:
  void discard(void* memory, std::uint64_t bytes) noexcept override;

 protected:
  void* do_allocate(std::uint64_t bytes, fresh_memory contents) override;
  void do_deallocate(void* memory, std::uint64_t bytes) noexcept override;
  void* do_resize(void* memory, std::uint64_t old_bytes, std::uint64_t new_bytes) override;
};

/// Describes a shortage, for messages: "8 more bytes were needed for symbols with 90 bytes in use, and ...".
[[nodiscard]] std::string shortage(const memory_exceeded& fault, const memory_resource& memory);

/// Returns unlimited main memory, for data that belongs to no run.
[[nodiscard]] memory_resource& unlimited_memory();

}  // namespace gpulog::backend
