#pragma once

#include <cstdint>

#include "storage/hisa/hisa_device.cuh"
#include "storage/hisa/hisa_level.hpp"

/// The device code of hisa_level. Entries are sorted rows or sorted groups of rows that a level merges in:
///   word key(j, c)      key column c of entry j
///   bool head(j)        whether no earlier entry has the same key
///   uint32_t start(j)   rows before entry j; for j = number of entries: all rows
namespace gpulog::storage::gpu {

/// Rows of a run in sorted order, as entries of a level.
struct sorted_row_entries {
  const word* const* columns;
  const std::uint32_t* order;      // of the columns
  const std::uint32_t* positions;  // of the rows
  std::uint32_t length;
  __device__ word key(std::uint64_t j, std::uint32_t c) const { return columns[order[c]][positions[j]]; }
  __device__ bool head(std::uint64_t j) const {
    if (j == 0) return true;
    for (std::uint32_t c = 0; c < length; ++c) {
      if (key(j, c) != key(j - 1, c)) return true;
    }
    return false;
  }
  __device__ static std::uint32_t start(std::uint64_t j) { return static_cast<std::uint32_t>(j); }
};

/// Groups of a level as entries.
struct group_entries {
  level_view level;
  __device__ word key(std::uint64_t j, std::uint32_t c) const { return level.keys[c * level.stride + j]; }
  __device__ static bool head(std::uint64_t) { return true; }
  __device__ std::uint32_t start(std::uint64_t j) const { return level.first[j]; }
};

/// Sorted words as entries of a single-column level.
struct column_entries {
  const word* values;
  __device__ word key(std::uint64_t j, std::uint32_t) const { return values[j]; }
  __device__ bool head(std::uint64_t j) const { return j == 0 || values[j] != values[j - 1]; }
  __device__ static std::uint32_t start(std::uint64_t j) { return static_cast<std::uint32_t>(j); }
};

namespace hisa_level_kernels {

template <class Entries>
struct mark_new_key {
  level_view level;
  Entries entries;
  std::uint8_t* flags;
  __device__ void operator()(std::uint64_t j) const {
    const auto key = [this, j](std::uint32_t c) { return entries.key(j, c); };
    flags[j] = entries.head(j) && level.find(key).count == 0 ? 1 : 0;
  }
};
template <class Entries>
struct first_group {
  Entries entries;
  const std::uint32_t* heads;
  word* keys;
  std::uint64_t stride;
  std::uint32_t length;
  std::uint32_t* first;
  __device__ void operator()(std::uint64_t g) const {
    const std::uint32_t head = heads[g];
    for (std::uint32_t c = 0; c < length; ++c) keys[c * stride + g] = entries.key(head, c);
    first[g] = entries.start(head);
  }
};
template <class Entries>
struct rank_head {
  level_view level;
  Entries entries;
  const std::uint32_t* heads;
  std::uint32_t* ranks;
  __device__ void operator()(std::uint64_t i) const {
    const std::uint32_t head = heads[i];
    ranks[i] =
        static_cast<std::uint32_t>(level.lower_bound([this, head](std::uint32_t c) { return entries.key(head, c); }));
  }
};
template <class Entries>
struct head_key {
  Entries entries;
  const std::uint32_t* heads;
  std::uint32_t column;
  __device__ word operator()(std::uint64_t i) const { return entries.key(heads[i], column); }
};
/// Returns where the rows of a new group would start in the old rows.
struct head_first {
  const std::uint32_t* first;
  const std::uint32_t* ranks;
  __device__ word operator()(std::uint64_t i) const { return first[ranks[i]]; }
};
/// Adds, to the start of each key's rows, the number of merged rows with smaller keys.
template <class Entries>
struct shift_first {
  Entries entries;
  std::uint64_t count;
  const word* keys;
  std::uint64_t stride;
  std::uint32_t length;
  std::uint32_t* first;
  __device__ void operator()(std::uint64_t g) const {
    std::uint64_t low = 0;
    std::uint64_t high = count;
    while (low < high) {
      const std::uint64_t middle = (low + high) / 2;
      int order = 0;
      for (std::uint32_t c = 0; c < length && order == 0; ++c) {
        const word left = entries.key(middle, c);
        const word right = keys[c * stride + g];
        order = left < right ? -1 : left > right ? 1 : 0;
      }
      if (order < 0) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    first[g] += entries.start(low);
  }
};
struct set_word {
  std::uint32_t* place;
  std::uint32_t value;
  __device__ void operator()(std::uint64_t) const { *place = value; }
};

}  // namespace hisa_level_kernels

template <class Entries>
void hisa_level::mark_new(hisa_workspace& space, const Entries& entries, std::uint64_t count,
                          std::uint8_t* flags) const {
  hisa_for_each(space, count, hisa_level_kernels::mark_new_key<Entries>{view(), entries, flags});
}

template <class Entries>
void hisa_level::absorb(hisa_workspace& space, const Entries& entries, std::uint64_t count, const std::uint32_t* heads,
                        std::uint64_t new_groups, std::uint64_t all_rows, const buffer_policy& buffers) {
  namespace kernels = hisa_level_kernels;
  const std::uint64_t old_groups = groups_;
  const std::uint64_t merged = old_groups + new_groups;
  if (new_groups != 0) {
    const level_view old = view();
    const std::uint64_t stride = make_spare(space, merged, buffers.capacity(old_groups, new_groups));
    word* const merged_keys = spare_keys_.data();
    std::uint32_t* const merged_first = spare_first_.data();
    if (old_groups == 0) {
      hisa_for_each(space, new_groups,
                    kernels::first_group<Entries>{entries, heads, merged_keys, stride, length_, merged_first});
    } else {
      std::uint32_t* const ranks = space.scratch(space.group_ranks, new_groups);
      hisa_for_each(space, new_groups, kernels::rank_head<Entries>{old, entries, heads, ranks});
      const std::uint32_t* const splits = space.split(ranks, new_groups, merged);
      for (std::uint32_t c = 0; c < length_; ++c) {
        merge_by_rank(space, ranks, splits, merged, array_element{old.keys + c * old.stride},
                      kernels::head_key<Entries>{entries, heads, c}, merged_keys + c * stride);
      }
      merge_by_rank(space, ranks, splits, merged, array_element{old.first}, kernels::head_first{old.first, ranks},
                    merged_first);
    }
    take_spare(merged, stride, buffers);
  }
  if (old_groups != 0) {
    hisa_for_each(space, merged,
                  kernels::shift_first<Entries>{entries, count, keys_.data(), stride_, length_, first_.data()});
  }
  hisa_for_each(space, 1, kernels::set_word{first_.data() + merged, static_cast<std::uint32_t>(all_rows)});
  if (new_groups != 0 || ranges_) build_table(space);
}

}  // namespace gpulog::storage::gpu
