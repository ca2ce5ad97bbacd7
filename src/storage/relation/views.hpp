#pragma once

#include <cstdint>

#include "backend/gpu/host_device.hpp"
#include "storage/indexes/key_level.hpp"
#include "storage/sets/bit_set.hpp"
#include "storage/sets/hash.hpp"

/// Trivially copyable views of device storage, for kernels.
namespace gpulog::storage::gpu {

/// A slot of a key level's hash table, with the layout of key_level.hpp.
struct key_slot {
  std::uint64_t code;
  std::uint64_t range;
};

/// The distinct keys of a sorted index array, the start of each key's rows, and the table that finds keys
/// (storage/indexes/key_level.hpp).
struct level_view {
  const key_slot* table = nullptr;
  std::uint64_t table_size = 0;
  const std::uint32_t* first = nullptr;  ///< groups + 1
  const word* keys = nullptr;            ///< [length][stride], by group, or by row for long keys with `ranges`
  std::uint64_t groups = 0;
  std::uint64_t stride = 0;
  std::uint32_t length = 0;
  /// Whether a slot holds its key's rows instead of its group, which stays valid when rows are added.
  bool ranges = false;

  /// Returns the code of a key: the key itself for up to two words, otherwise a hash that requires a comparison.
  template <class Key>
  [[nodiscard]] GPULOG_HOST_DEVICE std::uint64_t code(const Key& key) const {
    if (length == 1) return key(0);
    if (length == 2) return pack(key(0), key(1));
    key_hash hash;
    for (std::uint32_t c = 0; c < length; ++c) hash.add(key(c));
    return hash.value();
  }

  /// Returns the rows of a key; count 0 if the key does not exist. The lookup of Algorithm 3.
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
      if (length > 2 && compare(low, key) != 0) continue;
      if (ranges) return {low, high};
      return {first[low], first[low + 1ULL] - first[low]};
    }
  }

  /// Returns a negative number if the group's key is less than the given key.
  template <class Key>
  [[nodiscard]] GPULOG_HOST_DEVICE int compare(std::uint64_t group, const Key& key) const {
    for (std::uint32_t c = 0; c < length; ++c) {
      const word left = keys[c * stride + group];
      const word right = key(c);
      if (left != right) return left < right ? -1 : 1;
    }
    return 0;
  }

  /// Returns the first group whose key is not less than the given key.
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

/// A sorted run with the columns that a search reads, searched through one of its key levels.
struct run_view {
  level_view level;
  const std::uint32_t* direct = nullptr;  ///< number of rows below each key number; null: use the level's table
  /// For unsorted runs: by key number, the start of its rows (low half) and their count; null: use the table.
  const std::uint64_t* numbered = nullptr;
  const word* stored = nullptr;   ///< [stored column][rows]
  std::uint64_t direct_size = 0;  ///< size of `direct` or `numbered`
  std::uint64_t rows = 0;

  /// Returns the rows of a key; count 0 if the key does not exist.
  template <class Key>
  [[nodiscard]] GPULOG_HOST_DEVICE row_range find(const Key& key) const {
    if (direct == nullptr) {
      if (numbered == nullptr) return level.find(key);
      const word number = key(0);
      if (number >= direct_size) return {};
      const std::uint64_t range = numbered[number];
      return {static_cast<word>(range), static_cast<word>(range >> 32)};
    }
    const word number = key(0);
    if (number >= direct_size - 1) return {};
    return {direct[number], direct[number + 1ULL] - direct[number]};
  }
};

struct kept_rows_view;

/// The tuple set of a relation: a bit matrix or packed tuples (arity <= 2), otherwise row ids with fingerprints over
/// the columns; or rows stored as words.
struct set_view {
  std::uint64_t* slots = nullptr;
  std::uint64_t capacity = 0;  ///< slots, or words of the matrix; 0: never contained a tuple
  /// The matrix in 32-bit words: tuple (x,y) is bit y of row x; tuple (y) is bit y of row 0.
  std::uint32_t* bits = nullptr;
  std::uint64_t stride = 0;  ///< words per row
  /// Not 0: slots are 16-bit words of a sparse matrix with this many words per row (storage::packed_word).
  std::uint64_t words_per_row = 0;
  std::uint32_t* has_zero = nullptr;  ///< whether the set contains the packed tuple 0
  word* const* columns = nullptr;
  std::uint32_t arity = 0;
  const kept_rows_view* kept = nullptr;  ///< not null: lookups read the kept rows, and no set exists

  // For a relation that keeps the best row of a key (device_best.hpp): slots are keys; arrays by slot, with one extra
  // entry:
  std::uint64_t* best = nullptr;         ///< rank of the best value offered; null for all other relations
  const std::uint64_t* shown = nullptr;  ///< rank of the relation's current value
  word flip = 0;                         ///< converts between a value and its rank
  std::uint32_t value_column = 0;
  static constexpr std::uint64_t free_key = ~0ULL;
  static constexpr std::uint64_t no_rank = ~0ULL;

  template <class Value>
  [[nodiscard]] GPULOG_HOST_DEVICE std::uint64_t tuple_hash(const Value& value) const {
    key_hash hash;
    for (std::uint32_t c = 0; c < arity; ++c) hash.add(value(c));
    return mix(hash.value());
  }
  /// Returns the index of the matrix word that contains a packed tuple's bit. The index is within the capacity for
  /// every permitted tuple.
  [[nodiscard]] GPULOG_HOST_DEVICE std::uint64_t bit_word(std::uint64_t key) const {
    return (key >> 32) * stride + (static_cast<word>(key) >> 5);
  }
  [[nodiscard]] GPULOG_HOST_DEVICE static std::uint32_t bit_mask(std::uint64_t key) { return 1U << (key & 31); }

  /// Returns the number of the word in a sparse matrix.
  [[nodiscard]] GPULOG_HOST_DEVICE std::uint64_t word_number(std::uint64_t key) const {
    return (key >> 32) * words_per_row + static_cast<word>(key) / packed_word::bits;
  }

  template <class Value>
  [[nodiscard]] GPULOG_HOST_DEVICE static std::uint64_t packed(std::uint32_t width, const Value& value) {
    return width == 1 ? value(0) : pack(value(0), value(1));
  }
};

/// The values of a row, by column.
struct row_values {
  word* const* columns;
  std::uint64_t row;
  [[nodiscard]] GPULOG_HOST_DEVICE word operator()(std::uint32_t c) const { return columns[c][row]; }
};

/// Counts the rows appended by kernels, in device memory. A kernel's last block copies the tail, so that the next
/// kernel has an unchanged copy while its blocks increase the tail.
struct append_counter {
  std::uint64_t tail = 0;
  std::uint64_t tail_before = 0;  ///< value at the start of the running kernel
};

/// A slot of a row id set: fingerprint in the upper bits, row + 1 in the lower bits.
constexpr unsigned row_bits = 40;
constexpr std::uint64_t row_mask = (1ULL << row_bits) - 1;
/// Instead of row + 1 while a thread stores the row.
constexpr std::uint64_t claimed_row = row_mask;

}  // namespace gpulog::storage::gpu
