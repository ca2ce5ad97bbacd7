#pragma once

#include <cstdint>

#include "storage/relation/views.hpp"
#include "storage/representation/kept_rows.cuh"

/// Searches of a decomposed fixpoint (numbered_task.hpp) that stop at vertices with a complete result and take it over
/// (docs/internals/row-takeover.md). The row of a vertex is the set of vertices reachable from the vertex. The result
/// of a source that starts at exactly the successors of a vertex is the row of that vertex.
namespace gpulog::kernels::gpu {

using storage::gpu::kept_row;
using storage::gpu::row_alignment;
using storage::gpu::row_memory;
using storage::gpu::short_row;

/// A vertex: its row, and its successors.
struct alignas(16) row_vertex {
  unsigned long long row;
  std::uint32_t first;  ///< first of the steps
  std::uint32_t count;
};

/// The successors of a vertex that the search expands.
struct row_steps {
  std::uint32_t first;
  std::uint32_t count;
};

/// A nonzero group of a row, and the number of bits in earlier groups.
struct used_group {
  std::uint32_t number;
  std::uint32_t before;
};

/// Whether the result of a source is the row of a vertex.
enum class row_kind : std::uint8_t { unknown, of_vertex, other };

struct takeover_arguments {
  static constexpr std::uint32_t no_vertex = UINT32_MAX;

  // The graph.
  const std::uint32_t* first_starts = nullptr;  ///< by source, with one extra entry
  const word* starts = nullptr;
  const word* steps = nullptr;
  row_vertex* vertices = nullptr;            ///< by number
  const std::uint32_t* vertex_of = nullptr;  ///< by source; null: the same number
  std::uint64_t numbers = 0;
  std::uint64_t sources = 0;
  std::uint64_t stride = 1;  ///< coprime to sources, which are visited in scattered order

  row_memory rows;
  unsigned long long* results = nullptr;  ///< kept_row, by source
  std::uint64_t row_units = 0;            ///< units available to searches, after the units of short rows
  row_kind* kinds = nullptr;              ///< by source

  // Long searches: places [first, last) of a list of sources, at most all listed sources.
  std::uint32_t* listed = nullptr;
  std::uint64_t first = 0;
  std::uint64_t last = 0;
  bool is_again = false;  ///< repeats searches whose rows did not fit, storing the rows from `again_unit` on
  std::uint64_t again_unit = 0;
  row_steps* queues = nullptr;  ///< [block][numbers]
  // For rows that do not fit into shared memory.
  std::uint32_t* bits = nullptr;      ///< [block][row of bits], zero
  used_group* used_groups = nullptr;  ///< [block][groups + 1]

  struct totals {
    unsigned long long next;       ///< next long search
    unsigned long long longs;      ///< number of long searches
    unsigned long long rows;       ///< number of result rows
    unsigned long long row_units;  ///< units used by stored rows; more than row_units if space was short
    unsigned long long not_kept;   ///< sources whose rows did not fit
    unsigned long long candidates;
    unsigned long long taken_over;  ///< rows
    unsigned iterations;
  }* counts = nullptr;
};

/// Materializes stored rows as columns, mapping numbers back to values.
struct expansion_arguments {
  static constexpr std::uint32_t most_columns = 16;

  row_memory rows;
  const unsigned long long* results = nullptr;  ///< kept_row, by source
  /// By source, with one extra entry: number of rows of the relation before the source's rows; a source with an empty
  /// range is skipped.
  const std::uint64_t* places = nullptr;
  const std::uint32_t* lists = nullptr;        ///< rows that did not fit, as lists; null: skip them
  const std::uint64_t* list_begins = nullptr;  ///< by source
  const std::uint32_t* listed = nullptr;       ///< sources; null: all
  std::uint64_t first = 0;                     ///< writes places [first, last) of the list
  std::uint64_t last = 0;
  std::uint64_t first_row = 0;  ///< first row of the relation to write

  const word* invariants = nullptr;  ///< [invariant column][sources]; null: a source is its value
  const word* nodes = nullptr;       ///< [node column][numbers]; null: a number is its value
  std::uint64_t numbers = 0;
  std::uint64_t sources = 0;
  std::uint32_t invariant_columns = 0;
  std::uint32_t node_columns = 0;
  word* out[most_columns] = {};  ///< invariant columns, then node columns; null: not needed
};

}  // namespace gpulog::kernels::gpu
