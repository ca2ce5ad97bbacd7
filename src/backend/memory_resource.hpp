#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <string>
#include <vector>

#include "backend/calibration.hpp"
#include "backend/spill_file.hpp"

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
  /// Returns the resource for arrays that are mostly read and written in order, such as the columns of a relation.
  [[nodiscard]] virtual memory_resource& for_columns() { return *this; }

  /// Describes the part of used() that does not belong to relations, for messages: ", of which 4096 for symbols and 64
  /// for records"; empty if there is no such part.
  [[nodiscard]] std::string named_uses() const;
  /// Returns what a user can do about the limit, for messages: "raise it with --memory-limit".
  [[nodiscard]] virtual std::string remedy() const;

 protected:
  virtual void* do_allocate(std::uint64_t bytes, fresh_memory contents) = 0;  ///< nullptr if refused
  virtual void do_deallocate(void* memory, std::uint64_t bytes) noexcept = 0;
  virtual void* do_resize(void* memory, std::uint64_t old_bytes,
                          std::uint64_t new_bytes) = 0;  ///< nullptr if refused
  /// Allocates an array on a disk, which neither used() nor the limit counts.
  /// @param more bytes that used() would grow by if the array were in memory
  /// @return zeroed memory; nullptr if the array belongs into memory
  virtual void* do_spill(std::uint64_t /*bytes*/, std::uint64_t /*more*/) { return nullptr; }
  [[nodiscard]] virtual bool is_spilled(const void* /*memory*/, std::uint64_t /*bytes*/) const { return false; }
  /// @return whether the array was on a disk
  virtual bool do_unspill(void* /*memory*/, std::uint64_t /*bytes*/) noexcept { return false; }

 private:
  friend class named_memory;

  void charge(std::uint64_t bytes);
  void* move(void* memory, std::uint64_t old_bytes, void* to, std::uint64_t new_bytes);
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
/// arrays come from the heap. With a spill file, large arrays are mapped from this file when memory is short: first
/// columns, so that random accesses find sets and indexes in memory (calibration.hpp).
class host_memory final : public memory_resource {
 public:
  void discard(void* memory, std::uint64_t bytes) noexcept override;
  [[nodiscard]] std::string remedy() const override;
  [[nodiscard]] memory_resource& for_columns() override { return columns_; }

  /// Must be called before the first allocation. Without a limit, the memory of the machine becomes the limit.
  /// @throws std::system_error as spill_file
  void spill_into(const std::string& directory);
  /// Returns the peak of the bytes on a disk.
  [[nodiscard]] std::uint64_t peak_spilled() const { return spill_ == nullptr ? 0 : spill_->peak(); }

 protected:
  void* do_allocate(std::uint64_t bytes, fresh_memory contents) override;
  void do_deallocate(void* memory, std::uint64_t bytes) noexcept override;
  void* do_resize(void* memory, std::uint64_t old_bytes, std::uint64_t new_bytes) override;
  void* do_spill(std::uint64_t bytes, std::uint64_t more) override;
  [[nodiscard]] bool is_spilled(const void* memory, std::uint64_t bytes) const override;
  bool do_unspill(void* memory, std::uint64_t bytes) noexcept override;

 private:
  class column_memory final : public memory_resource {
   public:
    explicit column_memory(host_memory& whole) : whole_(&whole) {}
    void discard(void* memory, std::uint64_t bytes) noexcept override { whole_->discard(memory, bytes); }

   protected:
    void* do_allocate(std::uint64_t bytes, fresh_memory contents) override { return whole_->allocate(bytes, contents); }
    void do_deallocate(void* memory, std::uint64_t bytes) noexcept override { whole_->deallocate(memory, bytes); }
    void* do_resize(void* memory, std::uint64_t old_bytes, std::uint64_t new_bytes) override {
      return whole_->resize(memory, old_bytes, new_bytes);
    }
    void* do_spill(std::uint64_t bytes, std::uint64_t more) override {
      return whole_->spill_beyond(calibration::used_share_for_columns, bytes, more);
    }
    [[nodiscard]] bool is_spilled(const void* memory, std::uint64_t bytes) const override {
      return whole_->is_spilled(memory, bytes);
    }
    bool do_unspill(void* memory, std::uint64_t bytes) noexcept override { return whole_->do_unspill(memory, bytes); }

   private:
    host_memory* whole_;
  };

  [[nodiscard]] void* spill_beyond(double share, std::uint64_t bytes, std::uint64_t more);

  std::unique_ptr<spill_file> spill_;  // nullptr: all arrays are in memory
  column_memory columns_{*this};
};

/// Describes a shortage, for messages: "8 more bytes were needed for symbols with 90 bytes in use, and ...".
[[nodiscard]] std::string shortage(const memory_exceeded& fault, const memory_resource& memory);

/// Returns how many bytes a process may use: all of the machine, or of its control group if that is less.
[[nodiscard]] std::uint64_t machine_bytes();

/// Returns unlimited main memory, for data that belongs to no run.
[[nodiscard]] memory_resource& unlimited_memory();

}  // namespace gpulog::backend
