#pragma once

#include <cstdint>

#include "backend/gpu/host_device.hpp"
#include "storage/indexes/key_level.hpp"
#include "storage/sets/bit_set.hpp"
#include "storage/sets/hash.hpp"

/// Trivially copyable views of device storage, for kernels.
namespace gpulog::storage::gpu {

/// One slot of a key level's hash table; as in key_level.hpp.
struct key_slot {
  std::uint64_t code;
  std::uint64_t range;
};

/// The distinct keys of a sorted index array, where each one's rows begin, and the table that finds them
/// (storage/indexes/key_level.hpp).
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

/// A sorted run with the columns that a search reads, searched by one of its key levels.
struct run_view {
  level_view level;
  const std::uint32_t* direct = nullptr;  ///< rows below each key number; null: by the level's table
  /// Of runs that are not sorted: by key number where its rows begin (low) and how many they are; null: by the table.
  const std::uint64_t* numbered = nullptr;
  const word* stored = nullptr;   ///< [stored column][rows]
  std::uint64_t direct_size = 0;  ///< of `direct` or `numbered`
  std::uint64_t rows = 0;

  /// The rows of a key; none: count 0.
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

/// The tuple set of a relation: a bit matrix or packed tuples (arity <= 2), else row ids with fingerprints over the
/// columns; or rows that are kept as words.
struct set_view {
  std::uint64_t* slots = nullptr;
  std::uint64_t capacity = 0;     ///< slots, or words of the matrix; 0: never had a tuple
  std::uint32_t* bits = nullptr;  ///< the matrix, of words of 32 bits: of tuple (x,y) bit y of row x; of (y), of row 0
  std::uint64_t stride = 0;       ///< words a row
  /// Not 0: a slot is a word of 16 bits of a sparse matrix with that many words a row (storage::packed_word).
  std::uint64_t words_per_row = 0;
  std::uint32_t* has_zero = nullptr;  ///< whether the packed tuple 0 is there
  word* const* columns = nullptr;
  std::uint32_t arity = 0;
  const kept_rows_view* kept = nullptr;  ///< not null: they are asked, there is no set

  // Of a relation that keeps the best row of a key (device_best.hpp): slots are keys; by slot, and one more at the end:
  std::uint64_t* best = nullptr;         ///< the rank of the best value offered; not null: it is such a relation
  const std::uint64_t* shown = nullptr;  ///< of the value that the relation has
  word flip = 0;                         ///< between a value and its rank
  std::uint32_t value_column = 0;
  static constexpr std::uint64_t free_key = ~0ULL;
  static constexpr std::uint64_t no_rank = ~0ULL;

  template <class Value>
  [[nodiscard]] GPULOG_HOST_DEVICE std::uint64_t tuple_hash(const Value& value) const {
    key_hash hash;
    for (std::uint32_t c = 0; c < arity; ++c) hash.add(value(c));
    return mix(hash.value());
  }
  /// The word of the matrix with a packed tuple's bit. It is within the capacity for every tuple that may be there.
  [[nodiscard]] GPULOG_HOST_DEVICE std::uint64_t bit_word(std::uint64_t key) const {
    return (key >> 32) * stride + (static_cast<word>(key) >> 5);
  }
  [[nodiscard]] GPULOG_HOST_DEVICE static std::uint32_t bit_mask(std::uint64_t key) { return 1U << (key & 31); }

  /// The number of the word of a sparse matrix.
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

/// Counts what kernels append, in device memory. A kernel's last block copies the tail to where the next kernel finds
/// it unchanged while its blocks count on.
struct append_counter {
  std::uint64_t tail = 0;
  std::uint64_t tail_before = 0;  ///< when the running kernel started
};

/// A row id set's slot: fingerprint above, row + 1 below; pending: the number of a candidate that has no row yet.
constexpr unsigned row_bits = 40;
constexpr std::uint64_t row_mask = (1ULL << row_bits) - 1;
constexpr std::uint64_t pending_flag = 1ULL << (row_bits - 1);

}  // namespace gpulog::storage::gpu
