#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "backend/gpu/emulated/memory_access.hpp"

/// The memory of the emulated device: one mapping, accessible to the host only while kernels or copies run.
namespace gpulog::backend::gpu::emulated {

/// Not thread-safe.
class guarded_memory {
 public:
  /// @param limit capacity in bytes
  explicit guarded_memory(std::uint64_t limit);
  guarded_memory(const guarded_memory&) = delete;
  guarded_memory& operator=(const guarded_memory&) = delete;

  /// @return nullptr if the remaining memory is too small
  [[nodiscard]] void* allocate(std::uint64_t bytes);
  /// Marks a block as unused but keeps the contents until reclaim().
  /// @return false if `memory` is not the start of a block
  [[nodiscard]] bool retire(void* memory);
  /// Checks the retired blocks for damage and closes the blocks for good. The caller guarantees that all kernels that
  /// may use retired blocks have ended, and that the memory is open.
  /// @return a description of the damage, or an empty text
  [[nodiscard]] std::string reclaim();

  /// Grants the calling thread access until close(). Further threads need a memory_access.
  void open();
  void close() noexcept;

  /// Returns whether the range is inside one allocation.
  [[nodiscard]] bool owns(const void* memory, std::uint64_t bytes) const;
  /// Checks for writes out of bounds, in a sample of the allocations if there are many. The memory must be open.
  [[nodiscard]] std::string find_damage();

  [[nodiscard]] std::uint64_t limit() const { return limit_; }
  [[nodiscard]] std::uint64_t used() const { return used_; }

 private:
  struct block {
    std::uint64_t bytes = 0;
    std::uint64_t space_begin = 0;  // including the red zones
    std::uint64_t space_bytes = 0;
    bool is_prepared = false;  // contents and red zones are initialized
    bool is_damaged = false;   // damage was already reported
  };
  using blocks = std::map<std::uint64_t, block>;  // by start offset

  [[nodiscard]] std::string damage_of(blocks::value_type& one) const;
  void prepare(blocks::value_type& one);
  void free_space(std::uint64_t begin, std::uint64_t bytes);

  std::uint64_t limit_;
  std::uint64_t reserved_;
  std::byte* base_ = nullptr;
  std::uint64_t used_ = 0;
  std::uint64_t high_water_ = 0;  // memory above this offset was never used
  std::uint64_t reachable_ = 0;   // bytes from the start that threads with access can reach
  bool is_open_ = false;
  std::optional<memory_access> access_;          // set while the memory is open
  std::map<std::uint64_t, std::uint64_t> free_;  // size by start offset
  blocks live_;
  std::vector<std::uint64_t> unprepared_;
  std::vector<blocks::value_type> retired_;
  std::deque<blocks::value_type> quarantine_;  // freed blocks that are not reused yet
  std::uint64_t quarantined_ = 0;              // in bytes
  std::uint64_t next_looked_at_ = 0;
};

}  // namespace gpulog::backend::gpu::emulated
