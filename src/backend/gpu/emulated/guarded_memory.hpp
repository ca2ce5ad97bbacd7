#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "backend/gpu/emulated/memory_access.hpp"

/// The memory of the emulated device: one mapping, which the host can't touch but while kernels or copies run.
namespace gpulog::backend::gpu::emulated {

/// Not for several threads at a time.
class guarded_memory {
 public:
  /// @param limit bytes that it has
  explicit guarded_memory(std::uint64_t limit);
  guarded_memory(const guarded_memory&) = delete;
  guarded_memory& operator=(const guarded_memory&) = delete;

  /// @return nullptr: there is not enough
  [[nodiscard]] void* allocate(std::uint64_t bytes);
  /// It no longer counts as used, but stays as it is until reclaim(). @return false: there is no such memory
  [[nodiscard]] bool retire(void* memory);
  /// What was retired is looked through and closed for good; kernels that may use it have ended. The memory is open.
  /// @return what was wrong with it; empty: nothing
  [[nodiscard]] std::string reclaim();

  /// Lets the calling thread reach it until close(); others by a memory_access of their own.
  void open();
  void close() noexcept;

  /// Whether all of it lies in one allocation.
  [[nodiscard]] bool owns(const void* memory, std::uint64_t bytes) const;
  /// Looks whether somebody wrote out of bounds, of some allocations when there are many. The memory is open.
  [[nodiscard]] std::string find_damage();

  [[nodiscard]] std::uint64_t limit() const { return limit_; }
  [[nodiscard]] std::uint64_t used() const { return used_; }

 private:
  struct block {
    std::uint64_t bytes = 0;
    std::uint64_t space_begin = 0;  // with what lies around it
    std::uint64_t space_bytes = 0;
    bool is_prepared = false;  // its contents and red zones are written
    bool is_damaged = false;   // and that was said already
  };
  using blocks = std::map<std::uint64_t, block>;  // by where they begin

  [[nodiscard]] std::string damage_of(blocks::value_type& one) const;
  void prepare(blocks::value_type& one);
  void free_space(std::uint64_t begin, std::uint64_t bytes);

  std::uint64_t limit_;
  std::uint64_t reserved_;
  std::byte* base_ = nullptr;
  std::uint64_t used_ = 0;
  std::uint64_t high_water_ = 0;  // nothing behind it was ever used
  std::uint64_t reachable_ = 0;   // bytes from the begin that those with access reach
  bool is_open_ = false;
  std::optional<memory_access> access_;          // while it is open
  std::map<std::uint64_t, std::uint64_t> free_;  // bytes, by where they begin
  blocks live_;
  std::vector<std::uint64_t> unprepared_;
  std::vector<blocks::value_type> retired_;
  std::deque<blocks::value_type> quarantine_;  // for a while nobody gets it
  std::uint64_t quarantined_ = 0;              // bytes
  std::uint64_t next_looked_at_ = 0;
};

}  // namespace gpulog::backend::gpu::emulated
