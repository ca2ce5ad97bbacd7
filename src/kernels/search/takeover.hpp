#pragma once

#include <cstdint>

#include "backend/gpu/wave.hpp"
#include "storage/relation/views.hpp"

/// Searches of a fixpoint that falls apart (numbered_task.hpp) that end at vertices whose result is complete, and take
/// it over (docs/internals/row-takeover.md). What reaches from a vertex is its row. Where a source begins at what
/// follows a vertex, its result is the row of that vertex.
namespace gpulog::kernels::gpu {

/// What follows a vertex, and its row.
struct alignas(16) row_vertex {
  static constexpr unsigned long long no_row = ~0ULL;  ///< it is not complete, or not kept
  static constexpr unsigned long long empty_row = 0;   ///< nothing follows

  unsigned long long row;  ///< size << 32 | place in the memory of rows
  std::uint32_t first;     ///< of the steps
  std::uint32_t count;
};

/// What follows a vertex that is searched through.
struct row_steps {
  std::uint32_t first;
  std::uint32_t count;
};

/// Where results go. Numbers become values again.
struct takeover_results {
  static constexpr std::uint32_t most_columns = 16;
  const word* invariants = nullptr;  ///< [invariant column][sources]; null: a source is its value
  const word* nodes = nullptr;       ///< [node column][numbers]; null: a number is its value
  std::uint32_t invariant_columns = 0;
  std::uint32_t node_columns = 0;
  word* out[most_columns] = {};  ///< invariant columns, then node columns
  std::uint64_t capacity = 0;    ///< rows
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

  // Rows that are kept: lists of numbers, the first ones in places of their own, or bits: which groups of words are not
  // zero, then the words, of which those groups are written.
  std::uint32_t* rows = nullptr;
  std::uint64_t row_words = 0;     ///< that there is room for
  std::uint32_t groups = 0;        ///< of a row of bits: a word for each lane of a wave
  std::uint32_t map_words = 0;     ///< bits by group
  std::uint32_t longest_list = 0;  ///< longer rows are bits
  row_kind* kinds = nullptr;       ///< by source

  // Long searches: places [first, last) of a list of sources; last: as many as there are, if those are fewer.
  std::uint32_t* listed = nullptr;
  bool is_again = false;  ///< they were made, but found no room
  std::uint64_t first = 0;
  std::uint64_t last = 0;
  row_steps* queues = nullptr;  ///< [block][numbers]

  takeover_results results;
  unsigned long long* places = nullptr;  ///< by source: rows that it took, if there was no room
  std::uint32_t* missing = nullptr;      ///< sources without room
  struct totals {
    unsigned long long next;       ///< long search
    unsigned long long longs;      ///< long searches
    unsigned long long rows;       ///< of results, whether there is room or not
    unsigned long long long_rows;  ///< of them, those of long searches
    unsigned long long row_words;  ///< words of kept rows
    unsigned long long missing;
    unsigned long long candidates;
    unsigned long long taken_over;  ///< rows
    unsigned iterations;
  }* counts = nullptr;
};

/// Results up to this many numbers are lists of fixed size, found by one wave each.
constexpr std::uint32_t short_row = 32;
/// Of so many sources one has its bits kept: those that come first serve most of the others.
constexpr std::uint64_t sources_of_kept_bits = 4;
/// Kept rows begin at multiples of so many words.
constexpr std::uint32_t row_alignment = 32;
/// Most words of bits by group.
constexpr std::uint32_t most_map_words = 64;

}  // namespace gpulog::kernels::gpu
