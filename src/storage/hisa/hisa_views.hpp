#pragma once

#include <cstdint>

#include "backend/gpu/host_device.hpp"
#include "storage/relation/views.hpp"

/// Trivially copyable views of hash-indexed sorted arrays in device memory, for kernels.
namespace gpulog::storage::gpu {

/// A sorted index array, searched through one of its key levels.
struct hisa_run_view {
  level_view level;
  const std::uint32_t* positions = nullptr;  ///< rows of the data array, in sorted order

  /// Returns positions in the sorted order.
  template <class Key>
  [[nodiscard]] GPULOG_HOST_DEVICE row_range find(const Key& key) const {
    return level.find(key);
  }
};

/// All tuples of a relation in sorted order.
struct hisa_set_view {
  level_view first_column;
  const std::uint32_t* positions = nullptr;
  const word* const* columns = nullptr;
  std::uint64_t size = 0;
  std::uint32_t arity = 0;

  struct place {
    std::uint32_t rank = 0;  ///< number of smaller tuples
    bool present = false;
    bool new_key = false;  ///< whether no tuple starts with the same word
  };

  /// Looks up the range of the first column, then searches the range by bisection.
  template <class Value>
  [[nodiscard]] GPULOG_HOST_DEVICE place find(const Value& value) const {
    if (size == 0) return {0, false, true};
    const word leading = value(0);
    const auto key = [leading](std::uint32_t) { return leading; };
    const row_range range = first_column.find(key);
    if (range.count == 0) return {first_column.first[first_column.lower_bound(key)], false, true};
    std::uint32_t low = range.first;
    std::uint32_t high = range.first + range.count;
    while (low < high) {
      const std::uint32_t middle = low + (high - low) / 2;
      const std::uint32_t row = positions[middle];
      int order = 0;
      for (std::uint32_t c = 1; c < arity && order == 0; ++c) {
        const word left = columns[c][row];
        const word right = value(c);
        order = left < right ? -1 : left > right ? 1 : 0;
      }
      if (order == 0) return {middle, true, false};
      if (order < 0) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    return {low, false, false};
  }
};

}  // namespace gpulog::storage::gpu
