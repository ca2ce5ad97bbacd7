#pragma once

#include <cstdint>

#include "storage/cuda/views.hpp"
#include "storage/hash.hpp"
#include "storage/key_level.hpp"
#include "support/host_device.hpp"

/// Trivially copyable views of hash-indexed sorted arrays in device memory, for kernels.
namespace gpulog::storage::cuda {

/// The distinct keys of a sorted index array, where each one's rows begin, and the table that finds them
/// (storage/key_level.hpp).
struct level_view {
  const key_slot* table = nullptr;
  std::uint64_t table_size = 0;
  const std::uint32_t* first = nullptr;  ///< groups + 1
  const word* keys = nullptr;            ///< [length][stride]
  std::uint64_t groups = 0;
  std::uint64_t stride = 0;
  std::uint32_t length = 0;
  bool ranges = false;  ///< a slot holds its key's rows; else its group, and stays right when rows are added

  /// A key's code: the key itself up to two words, else a hash of it that needs comparing.
  template <class Key>
  [[nodiscard]] GPULOG_HOST_DEVICE std::uint64_t code(const Key& key) const {
    if (length == 1) return key(0);
    if (length == 2) return pack(key(0), key(1));
    key_hash hash;
    for (std::uint32_t c = 0; c < length; ++c) hash.add(key(c));
    return hash.value();
  }

  /// The rows of a key; none: count 0. The lookup of Algorithm 3.
  template <class Key>
  [[nodiscard]] GPULOG_HOST_DEVICE row_range find(const Key& key) const {
    if (groups == 0) return {};
    const std::uint64_t own = code(key);
    for (std::uint64_t at = scale(mix(own), table_size);; at = at + 1 == table_size ? 0 : at + 1) {
      const key_slot slot = table[at];
      if (slot.range == 0) return {};
      if (slot.code != own) continue;
      const auto low = static_cast<std::uint32_t>(slot.range);
      const auto high = static_cast<std::uint32_t>(slot.range >> 32);
      if (ranges) return {low, high};
      if (length <= 2 || compare(low, key) == 0) return {first[low], first[low + 1ULL] - first[low]};
    }
  }

  /// < 0: the group's key is below this one.
  template <class Key>
  [[nodiscard]] GPULOG_HOST_DEVICE int compare(std::uint64_t group, const Key& key) const {
    for (std::uint32_t c = 0; c < length; ++c) {
      const word left = keys[c * stride + group];
      const word right = key(c);
      if (left != right) return left < right ? -1 : 1;
    }
    return 0;
  }

  /// The first group whose key is not below this one.
  template <class Key>
  [[nodiscard]] GPULOG_HOST_DEVICE std::uint64_t lower_bound(const Key& key) const {
    std::uint64_t low = 0;
    std::uint64_t high = groups;
    while (low < high) {
      const std::uint64_t middle = (low + high) / 2;
      if (compare(middle, key) < 0) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    return low;
  }
};

/// A sorted index array, searched by one of its key levels.
struct hisa_run_view {
  level_view level;
  const std::uint32_t* positions = nullptr;  ///< rows of the data array, in sorted order
};

/// All tuples of a relation in sorted order.
struct hisa_set_view {
  level_view first_column;
  const std::uint32_t* positions = nullptr;
  const word* const* columns = nullptr;
  std::uint64_t size = 0;
  std::uint32_t arity = 0;

  struct place {
    std::uint32_t rank = 0;  ///< of tuples that are smaller
    bool present = false;
    bool new_key = false;  ///< no tuple begins with the same word
  };

  /// A range query on the first column, then a binary search in the range.
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

}  // namespace gpulog::storage::cuda
