#pragma once

#include <cstdint>

#include "storage/relation/views.hpp"
#include "storage/representation/kept_rows.cuh"

/// Searches of a fixpoint that falls apart (numbered_task.hpp) that end at vertices whose result is complete, and take
/// it over (docs/internals/row-takeover.md). What reaches from a vertex is its row. Where a source begins at what
/// follows a vertex, its result is the row of that vertex.
namespace gpulog::kernels::gpu {

using storage::gpu::kept_row;
using storage::gpu::row_alignment;
using storage::gpu::row_memory;
using storage::gpu::short_row;

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
  /// By source, and one behind: rows of the relation in front of its own; nothing is written where the next is the
  /// same.
  const std::uint64_t* places = nullptr;
  const std::uint32_t* lists = nullptr;        ///< of rows that are not kept; null: these are left out
  const std::uint64_t* list_begins = nullptr;  ///< of these, by source
  const std::uint32_t* listed = nullptr;       ///< sources; null: all
  std::uint64_t first = 0;                     ///< of these, places [first, last) are written
  std::uint64_t last = 0;
  std::uint64_t first_row = 0;  ///< of the relation, to be written first

  const word* invariants = nullptr;  ///< [invariant column][sources]; null: a source is its value
  const word* nodes = nullptr;       ///< [node column][numbers]; null: a number is its value
  std::uint64_t numbers = 0;
  std::uint64_t sources = 0;
  std::uint32_t invariant_columns = 0;
  std::uint32_t node_columns = 0;
  word* out[most_columns] = {};  ///< invariant columns, then node columns; null: it is not wanted
};

}  // namespace gpulog::kernels::gpu
