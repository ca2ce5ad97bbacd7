#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <string>
#include <vector>

namespace gpulog::backend {

/// Thrown when an allocation would pass the limit of its resource or the machine refuses it. The executor adds rule and
/// relation.
class memory_exceeded : public std::exception {
 public:
  memory_exceeded(std::uint64_t requested_bytes, std::uint64_t used_bytes, std::uint64_t limit_bytes)
      : requested(requested_bytes), used(used_bytes), limit(limit_bytes) {}
  [[nodiscard]] const char* what() const noexcept override { return "memory limit exceeded"; }

  std::uint64_t requested;
  std::uint64_t used;
  std::uint64_t limit;  ///< 0: the machine refused
  /// What the memory was for, as named_memory has it; nullptr: for what the message names anyway.
  const char* purpose = nullptr;
};

/// What fresh memory holds.
enum class fresh_memory : std::uint8_t { zeroed, anything };

class named_memory;

/// Where all arrays of relations, sets and indexes come from: counts bytes and obeys a limit. Thread-safe.
class memory_resource {
 public:
  memory_resource() = default;
  memory_resource(const memory_resource&) = delete;
  memory_resource& operator=(const memory_resource&) = delete;
  virtual ~memory_resource() = default;

  /// @return memory of at least `bytes` bytes, aligned to 64; nullptr for 0 bytes. @throws memory_exceeded
  [[nodiscard]] void* allocate(std::uint64_t bytes, fresh_memory contents = fresh_memory::zeroed);
  void deallocate(void* memory, std::uint64_t bytes) noexcept;
  /// Grows (or shrinks) an allocation; keeps the first min(old, new) bytes, which may move. New bytes are zero. @throws
  /// memory_exceeded
  [[nodiscard]] void* resize(void* memory, std::uint64_t old_bytes, std::uint64_t new_bytes);
  /// The pages behind these bytes are no longer needed; their contents are lost. The allocation stays counted.
  virtual void discard(void* memory, std::uint64_t bytes) noexcept = 0;

  /// Several allocations of that size are to come: where memory comes in slabs, they share one. It may be refused then.
  virtual void prepare(std::uint64_t /*allocations*/, std::uint64_t /*bytes*/) {}

  void set_limit(std::uint64_t bytes) { limit_ = bytes; }
  [[nodiscard]] std::uint64_t limit() const { return limit_; }
  [[nodiscard]] std::uint64_t used() const { return used_.load(std::memory_order_relaxed); }
  [[nodiscard]] std::uint64_t peak() const { return peak_.load(std::memory_order_relaxed); }
  [[nodiscard]] std::uint64_t allocations() const { return allocations_.load(std::memory_order_relaxed); }
  /// What of used() is not relations', for messages: ", of which 4096 for symbols and 64 for records"; or nothing.
  [[nodiscard]] std::string named_uses() const;

 protected:
  virtual void* do_allocate(std::uint64_t bytes, fresh_memory contents) = 0;  ///< nullptr when refused
  virtual void do_deallocate(void* memory, std::uint64_t bytes) noexcept = 0;
  virtual void* do_resize(void* memory, std::uint64_t old_bytes,
                          std::uint64_t new_bytes) = 0;  ///< nullptr when refused

 private:
  friend class named_memory;

  void charge(std::uint64_t bytes);
  void release(std::uint64_t bytes) noexcept { used_.fetch_sub(bytes, std::memory_order_relaxed); }

  std::atomic<std::uint64_t> used_{0};
  std::atomic<std::uint64_t> peak_{0};
  std::atomic<std::uint64_t> allocations_{0};
  std::uint64_t limit_ = 0;  // 0: none
  std::vector<const named_memory*> named_;
};

/// A part of another resource's memory that is told apart: counted there too, and named when it can't be had. Made and
/// destroyed while nobody else uses the other resource.
class named_memory final : public memory_resource {
 public:
  /// @param purpose behind "more bytes were needed for", a literal
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

/// Main memory: large arrays as their own mappings on huge pages (random probes are bound by address translation),
/// small ones from the heap.
class host_memory final : public memory_resource {
 public:
  void discard(void* memory, std::uint64_t bytes) noexcept override;

 protected:
  void* do_allocate(std::uint64_t bytes, fresh_memory contents) override;
  void do_deallocate(void* memory, std::uint64_t bytes) noexcept override;
  void* do_resize(void* memory, std::uint64_t old_bytes, std::uint64_t new_bytes) override;
};

/// What was missing, for messages: "8 more bytes were needed for symbols with 90 bytes in use, and ...".
[[nodiscard]] std::string shortage(const memory_exceeded& fault, const memory_resource& memory);

/// Main memory that belongs to no run: without a limit.
[[nodiscard]] memory_resource& unlimited_memory();

}  // namespace gpulog::backend
