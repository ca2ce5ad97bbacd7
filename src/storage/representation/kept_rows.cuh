#pragma once

#include <cstdint>

#include "backend/gpu/host_device.hpp"
#include "backend/gpu/wave.hpp"
#include "storage/sets/hash.hpp"
#include "support/ids.hpp"

/// Rows stored as words on a device, and tuple lookups in them (device_row_matrix.hpp).
namespace gpulog::storage::gpu {

/// A reference to a stored row: its size, and its place in units of row_alignment words, with a bit that tells lists
/// from bits.
struct kept_row {
  static constexpr unsigned long long unknown = ~0ULL;  ///< for a vertex: the row is not complete, or not stored
  static constexpr unsigned long long empty = 0;
  static constexpr std::uint32_t no_place = UINT32_MAX;  ///< the row is not stored
  static constexpr std::uint32_t bits_mark = 1U << 31;   ///< in a place: the row is stored as bits
  static constexpr std::uint64_t most_units = bits_mark - 1ULL;

  [[nodiscard]] __device__ static unsigned long long of(std::uint32_t size, std::uint32_t place) {
    return static_cast<unsigned long long>(size) << 32 | place;
  }
  [[nodiscard]] __device__ static std::uint32_t size(unsigned long long row) {
    return static_cast<std::uint32_t>(row >> 32);
  }
  /// Returns the place, including the mark.
  [[nodiscard]] __device__ static std::uint32_t place(unsigned long long row) {
    return static_cast<std::uint32_t>(row);
  }
  [[nodiscard]] __device__ static bool is_list(unsigned long long row) { return (place(row) & bits_mark) == 0; }
};

/// Rows start at multiples of this many words.
constexpr std::uint32_t row_alignment = 32;
/// Results of at most this many numbers are lists, computed by one wave each, at a fixed place per source. Short lists
/// are unordered; longer lists ascend.
constexpr std::uint32_t short_row = 32;
static_assert(short_row == row_alignment);

/// Memory of stored rows: lists of numbers, or rows of bits in groups of words (one word per lane of a wave). A row of
/// bits that fits into shared memory is stored with all groups: a map of the nonzero groups, prefix sums, and space for
/// each group, of which only nonzero groups are valid. A longer row is stored without zero groups (`is_compact`): the
/// number of groups, their numbers, prefix sums, and the groups. Prefix sums count the bits before each group, with one
/// extra entry.
struct row_memory {
  std::uint32_t* words = nullptr;
  std::uint32_t groups = 0;         ///< per row of bits
  std::uint32_t map_words = 0;      ///< bits by group
  std::uint32_t head_words = 0;     ///< map and sums
  std::uint32_t longest_list = 0;   ///< longer rows are stored as bits
  std::uint32_t list_of_group = 0;  ///< a compact row is a list if it has at most this many numbers per group
  bool is_compact = false;

  [[nodiscard]] GPULOG_HOST_DEVICE static std::uint32_t aligned(std::uint32_t n) {
    return (n + row_alignment - 1) / row_alignment * row_alignment;
  }
  /// Returns the words before the groups of a compact row.
  [[nodiscard]] GPULOG_HOST_DEVICE static std::uint32_t compact_head_words(std::uint32_t used) {
    return aligned(2 * used + 2);
  }
  [[nodiscard]] GPULOG_HOST_DEVICE std::uint32_t bits_units() const {
    return is_compact ? compact_units(groups) : (head_words + groups * backend::gpu::wave_size) / row_alignment;
  }
  [[nodiscard]] GPULOG_HOST_DEVICE static std::uint32_t compact_units(std::uint32_t used) {
    return (compact_head_words(used) + used * backend::gpu::wave_size) / row_alignment;
  }
  [[nodiscard]] GPULOG_HOST_DEVICE static std::uint32_t list_units(std::uint32_t size) {
    return (size + row_alignment - 1) / row_alignment;
  }
  [[nodiscard]] __device__ std::uint32_t* at(unsigned long long row) const {
    return words + std::uint64_t{kept_row::place(row) & ~kept_row::bits_mark} * row_alignment;
  }
};

/// Some columns of a relation whose tuples are numbered.
struct numbered_columns {
  static constexpr std::uint32_t most = 16;
  static constexpr std::uint32_t none = UINT32_MAX;

  const std::uint32_t* slots = nullptr;  ///< number + 1; 0: free; null: a value is its number
  std::uint64_t size = 0;                ///< number of slots; without slots: exclusive bound of the numbers
  const word* values[most] = {};         ///< by number
  std::uint32_t columns[most] = {};      ///< of the relation
  std::uint32_t arity = 0;

  /// @param tuple of the relation, by column
  template <class Tuple>
  [[nodiscard]] GPULOG_HOST_DEVICE std::uint32_t find(const Tuple& tuple) const {
    if (slots == nullptr) return tuple[columns[0]] < size ? tuple[columns[0]] : none;
    key_hash hash;
    for (std::uint32_t c = 0; c < arity; ++c) hash.add(tuple[columns[c]]);
    for (std::uint64_t at = scale(mix(hash.value()), size);; at = at + 1 == size ? 0 : at + 1) {
      const std::uint32_t slot = slots[at];
      if (slot == 0) return none;
      bool same = true;
      for (std::uint32_t c = 0; c < arity && same; ++c) same = values[c][slot - 1] == tuple[columns[c]];
      if (same) return slot - 1;
    }
  }
};

/// What a kernel looks up: a tuple, or whether any tuple has these sources or these nodes.
enum class kept_question : std::uint8_t { tuple, source, node };

/// All rows of a relation, for lookups of tuples in kernels.
struct kept_rows_view {
  numbered_columns sources;
  numbered_columns nodes;
  std::uint32_t groups = 0;  ///< per row of bits
  std::uint64_t source_count = 0;
  std::uint64_t node_count = 0;
  kept_question asked = kept_question::tuple;
  const std::uint32_t* used_nodes = nullptr;  ///< bitmap of the nodes that occur in some row; for kept_question::node

  // Representation 1: all rows are bits.
  const std::uint32_t* bits = nullptr;    ///< [source][group][lane]; null: rows are lists or bits
  const std::uint32_t* stamps = nullptr;  ///< [source][group]; 0: the group has no bits and no valid words
  const std::uint64_t* places = nullptr;  ///< by source, with one extra entry: number of earlier rows

  // Representation 2: rows are lists or bits.
  row_memory rows;
  const unsigned long long* results = nullptr;  ///< kept_row, by source
  const std::uint32_t* lists = nullptr;         ///< rows without a place, as ascending numbers
  const std::uint64_t* begins = nullptr;        ///< of the lists, by source

  /// Returns the number of words in a bitmap of nodes, in whole groups.
  [[nodiscard]] GPULOG_HOST_DEVICE std::uint64_t node_words() const {
    return std::uint64_t{groups} * backend::gpu::wave_size;
  }
  [[nodiscard]] __device__ std::uint64_t size(std::uint32_t source) const {
    return places != nullptr ? places[source + 1ULL] - places[source] : kept_row::size(results[source]);
  }
  [[nodiscard]] __device__ bool contains(std::uint32_t source, std::uint32_t node) const {
    const std::uint32_t group = node / (backend::gpu::wave_size * word_bits);
    const std::uint32_t mask = 1U << node % word_bits;
    if (bits != nullptr) {
      const std::uint64_t at = std::uint64_t{source} * groups;
      return stamps[at + group] != 0 && (bits[at * backend::gpu::wave_size + node / word_bits] & mask) != 0;
    }
    const unsigned long long row = results[source];
    if (row == kept_row::empty) return false;
    const std::uint32_t size = kept_row::size(row);
    if (kept_row::place(row) == kept_row::no_place) return ascends_to(lists + begins[source], size, node);
    const std::uint32_t* const kept = rows.at(row);
    if (kept_row::is_list(row)) {
      if (size > short_row) return ascends_to(kept, size, node);
      for (std::uint32_t i = 0; i < size; ++i) {
        if (kept[i] == node) return true;
      }
      return false;
    }
    if (rows.is_compact) {
      const std::uint32_t used = kept[0];
      const std::uint32_t at = place_in(kept + 1, used, group);
      if (at == used || kept[1 + at] != group) return false;
      const std::uint32_t* const words = kept + row_memory::compact_head_words(used) + at * backend::gpu::wave_size;
      return (words[node / word_bits % backend::gpu::wave_size] & mask) != 0;
    }
    const bool has_words = (kept[group / word_bits] >> group % word_bits & 1) != 0;
    return has_words && (kept[rows.head_words + node / word_bits] & mask) != 0;
  }

 private:
  /// Returns the place of the first number in an ascending list that is not smaller.
  [[nodiscard]] __device__ static std::uint32_t place_in(const std::uint32_t* list, std::uint32_t size,
                                                         std::uint32_t number) {
    std::uint32_t low = 0;
    std::uint32_t high = size;
    while (low < high) {
      const std::uint32_t middle = low + (high - low) / 2;
      if (list[middle] < number) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    return low;
  }
  /// Returns whether an ascending list contains a number.
  [[nodiscard]] __device__ static bool ascends_to(const std::uint32_t* list, std::uint32_t size, std::uint32_t number) {
    const std::uint32_t at = place_in(list, size, number);
    return at < size && list[at] == number;
  }
};

/// Not inlined, so that kernels that look up other sets need no registers for this.
/// @param tuple by column
GPULOG_NO_INLINE __device__ inline bool contains_kept(const kept_rows_view* kept, const word* tuple) {
  if (kept->asked == kept_question::node) {
    const std::uint32_t node = kept->nodes.find(tuple);
    return node != numbered_columns::none && (kept->used_nodes[node / word_bits] >> node % word_bits & 1) != 0;
  }
  const std::uint32_t source = kept->sources.find(tuple);
  if (source == numbered_columns::none) return false;
  if (kept->asked == kept_question::source) return kept->size(source) != 0;
  const std::uint32_t node = kept->nodes.find(tuple);
  return node != numbered_columns::none && kept->contains(source, node);
}

}  // namespace gpulog::storage::gpu
