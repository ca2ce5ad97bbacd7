#pragma once

#include <cstdint>

#include "storage/hisa/hisa_views.hpp"
#include "storage/hisa/hisa_workspace.hpp"

namespace gpulog::storage::gpu {

/// storage::key_level in device memory: the distinct keys of a sorted index array, the start of each key's rows, and
/// the open-addressing table over the keys (article, section 4.3). When rows are added to the array, the level merges
/// its keys.
class hisa_level {
 public:
  /// @param ranges whether slots hold row ranges, for keys of up to two words: saves an access per lookup, but the
  ///   table is rebuilt whenever rows are added instead of only for new keys
  hisa_level(memory_resource& resource, std::uint32_t length, double load, bool ranges)
      : keys_(resource),
        spare_keys_(resource),
        first_(resource),
        spare_first_(resource),
        table_(resource),
        length_(length),
        load_(load),
        ranges_(ranges && length <= 2) {}

  [[nodiscard]] level_view view() const;
  [[nodiscard]] std::uint32_t length() const { return length_; }
  [[nodiscard]] std::uint64_t groups() const { return groups_; }
  [[nodiscard]] std::uint64_t bytes() const {
    return keys_.bytes() + spare_keys_.bytes() + first_.bytes() + spare_first_.bytes() + table_.bytes();
  }

  /// Sets flags[j] to whether entry j is the first one with a key that the level lacks (hisa_level.cuh: Entries).
  template <class Entries>
  void mark_new(hisa_workspace& space, const Entries& entries, std::uint64_t count, std::uint8_t* flags) const;
  /// Updates the level after the entries' rows were added to the array, each after rows with equal keys.
  /// @param heads the entries found by mark_new(), `new_groups` many; ignored if new_groups is 0
  /// @param all_rows number of rows in the array after the addition
  template <class Entries>
  void absorb(hisa_workspace& space, const Entries& entries, std::uint64_t count, const std::uint32_t* heads,
              std::uint64_t new_groups, std::uint64_t all_rows, const buffer_policy& buffers);

 private:
  /// Makes room for the given number of groups in the spare buffers.
  /// @return the stride of the key columns
  std::uint64_t make_spare(hisa_workspace& space, std::uint64_t groups, std::uint64_t capacity);
  void take_spare(std::uint64_t groups, std::uint64_t stride, const buffer_policy& buffers);
  void build_table(hisa_workspace& space);

  array<word> keys_;  // [length][stride]
  array<word> spare_keys_;
  array<std::uint32_t> first_;  // groups + 1
  array<std::uint32_t> spare_first_;
  array<key_slot> table_;
  std::uint64_t groups_ = 0;
  std::uint64_t stride_ = 0;
  std::uint32_t length_;
  double load_;
  bool ranges_;
};

}  // namespace gpulog::storage::gpu
