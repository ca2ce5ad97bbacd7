#pragma once

#include <cstdint>

#include "backend/gpu/host_device.hpp"
#include "backend/gpu/wave.hpp"
#include "storage/relation/views.hpp"

/// Searches of a fixpoint that falls apart (numbered_task.hpp) that end at vertices whose result is complete, and take
/// it over (docs/internals/row-takeover.md). What reaches from a vertex is its row. Where a source begins at what
/// follows a vertex, its result is the row of that vertex.
namespace gpulog::kernels::gpu {

/// A row that is kept, or what is known of one: its size, and its place in units of row_alignment words, with a bit
/// that says whether it is a list or bits.
struct kept_row {
  static constexpr unsigned long long unknown = ~0ULL;  ///< of a vertex: it is not complete, or not kept
  static constexpr unsigned long long empty = 0;
  static constexpr std::uint32_t no_place = UINT32_MAX;  ///< it is not kept
  static constexpr std::uint32_t bits_mark = 1U << 31;   ///< of a place: bits are there
  static constexpr std::uint64_t most_units = bits_mark - 1ULL;

  [[nodiscard]] __device__ static unsigned long long of(std::uint32_t size, std::uint32_t place) {
    return static_cast<unsigned long long>(size) << 32 | place;
  }
  [[nodiscard]] __device__ static std::uint32_t size(unsigned long long row) {
    return static_cast<std::uint32_t>(row >> 32);
  }
  /// With the mark.
  [[nodiscard]] __device__ static std::uint32_t place(unsigned long long row) {
    return static_cast<std::uint32_t>(row);
  }
  [[nodiscard]] __device__ static bool is_list(unsigned long long row) { return (place(row) & bits_mark) == 0; }
};

/// What follows a vertex, and its row.
struct alignas(16) row_vertex {
  unsigned long long row;
  std::uint32_t first;  ///< of the steps
  std::uint32_t count;
};

/// What follows a vertex that is searched through.
struct row_steps {
  std::uint32_t first;
  std::uint32_t count;
};

/// Kept rows begin at multiples of so many words.
constexpr std::uint32_t row_alignment = 32;
/// Results up to this many numbers are lists, found by one wave each, in a place of their own for each source.
constexpr std::uint32_t short_row = 32;
static_assert(short_row == row_alignment);

/// Memory of kept rows: lists of numbers, or rows of bits, of words by group (a word for each lane of a wave). A row of
/// bits that fits into a block's memory is kept with all of its groups: which of them are not zero; sums; the groups
/// that are not zero, each in its place. Of longer rows nothing is kept for groups that are zero (`is_compact`): how
/// many others there are, their numbers, sums, these groups side by side. Sums are by group: of the bits in front; and
/// one behind.
struct row_memory {
  std::uint32_t* words = nullptr;
  std::uint32_t groups = 0;         ///< of a row of bits
  std::uint32_t map_words = 0;      ///< bits by group
  std::uint32_t head_words = 0;     ///< map and sums
  std::uint32_t longest_list = 0;   ///< longer rows are bits
  std::uint32_t list_of_group = 0;  ///< of a compact row: it is a list up to so many numbers for each of its groups
  bool is_compact = false;

  [[nodiscard]] GPULOG_HOST_DEVICE static std::uint32_t aligned(std::uint32_t n) {
    return (n + row_alignment - 1) / row_alignment * row_alignment;
  }
  /// Of a compact row: in front of its groups.
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

/// A group of a row that is not zero, and the bits of groups in front of it.
struct used_group {
  std::uint32_t number;
  std::uint32_t before;
};

/// Whether the result of a source is the row of a vertex.
enum class row_kind : std::uint8_t { unknown, of_vertex, other };

struct takeover_arguments {
  static constexpr std::uint32_t no_vertex = UINT32_MAX;

  // The graph.
  const std::uint32_t* first_starts = nullptr;  ///< by source, and one behind
  const word* starts = nullptr;
  const word* steps = nullptr;
  row_vertex* vertices = nullptr;            ///< by number
  const std::uint32_t* vertex_of = nullptr;  ///< by source; null: the same number
  std::uint64_t numbers = 0;
  std::uint64_t sources = 0;
  std::uint64_t stride = 1;  ///< without a common divisor with sources: they are visited in scattered order

  row_memory rows;
  unsigned long long* results = nullptr;  ///< kept_row, by source
  std::uint64_t row_units = 0;            ///< that searches may keep, behind those of short rows
  row_kind* kinds = nullptr;              ///< by source

  // Long searches: places [first, last) of a list of sources; last: as many as there are, if those are fewer.
  std::uint32_t* listed = nullptr;
  std::uint64_t first = 0;
  std::uint64_t last = 0;
  bool is_again = false;  ///< their rows were not kept, and are now, from `again_unit` on
  std::uint64_t again_unit = 0;
  row_steps* queues = nullptr;  ///< [block][numbers]
  // Where a row has no place in a block's memory.
  std::uint32_t* bits = nullptr;      ///< [block][row of bits], zero
  used_group* used_groups = nullptr;  ///< [block][groups + 1]

  struct totals {
    unsigned long long next;       ///< long search
    unsigned long long longs;      ///< long searches
    unsigned long long rows;       ///< of results
    unsigned long long row_units;  ///< of kept rows, or more
    unsigned long long not_kept;   ///< sources
    unsigned long long candidates;
    unsigned long long taken_over;  ///< rows
    unsigned iterations;
  }* counts = nullptr;
};

/// Kept rows become columns. Numbers become values again.
struct expansion_arguments {
  static constexpr std::uint32_t most_columns = 16;

  row_memory rows;
  const unsigned long long* results = nullptr;  ///< kept_row, by source
  const std::uint64_t* places = nullptr;        ///< by source: rows of the relation in front of its own
  const std::uint32_t* listed = nullptr;        ///< sources; null: all
  std::uint64_t first = 0;                      ///< of these, places [first, last) are written
  std::uint64_t last = 0;
  std::uint64_t first_row = 0;  ///< of the relation, to be written first

  const word* invariants = nullptr;  ///< [invariant column][sources]; null: a source is its value
  const word* nodes = nullptr;       ///< [node column][numbers]; null: a number is its value
  std::uint64_t numbers = 0;
  std::uint64_t sources = 0;
  std::uint32_t invariant_columns = 0;
  std::uint32_t node_columns = 0;
  word* out[most_columns] = {};  ///< invariant columns, then node columns
};

}  // namespace gpulog::kernels::gpu
