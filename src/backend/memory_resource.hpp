#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>

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
};

/// What fresh memory holds.
enum class fresh_memory : std::uint8_t { zeroed, anything };

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

  void set_limit(std::uint64_t bytes) { limit_ = bytes; }
  [[nodiscard]] std::uint64_t limit() const { return limit_; }
  [[nodiscard]] std::uint64_t used() const { return used_.load(std::memory_order_relaxed); }
  [[nodiscard]] std::uint64_t peak() const { return peak_.load(std::memory_order_relaxed); }
  [[nodiscard]] std::uint64_t allocations() const { return allocations_.load(std::memory_order_relaxed); }

 protected:
  virtual void* do_allocate(std::uint64_t bytes, fresh_memory contents) = 0;  ///< nullptr when refused
  virtual void do_deallocate(void* memory, std::uint64_t bytes) noexcept = 0;
  virtual void* do_resize(void* memory, std::uint64_t old_bytes,
                          std::uint64_t new_bytes) = 0;  ///< nullptr when refused

 private:
  void charge(std::uint64_t bytes);
  void release(std::uint64_t bytes) noexcept { used_.fetch_sub(bytes, std::memory_order_relaxed); }

  std::atomic<std::uint64_t> used_{0};
  std::atomic<std::uint64_t> peak_{0};
  std::atomic<std::uint64_t> allocations_{0};
  std::uint64_t limit_ = 0;  // 0: none
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

}  // namespace gpulog::backend
