#pragma once

#include <cstdint>

#include "backend/array.hpp"
#include "backend/gpu/device.hpp"
#include "storage/symbols/device_values.hpp"
#include "support/operations.hpp"
#include "support/value_types.hpp"

/// Operators over whole tables of bindings in device memory that are not index expansions: aggregates and ranges. All
/// run on the context's stream; functions that return a number wait for it.
namespace gpulog::kernels::gpu {

/// Values of a register in a table of bindings, including the tables to read 64-bit values.
/// @tparam Word 32 bits: columns hold values; 64 bits: columns hold codes or halves
template <class Word>
struct row_values {
  storage::gpu::value_column column;
  const word* numbered = nullptr;  ///< as in storage::gpu::value_of_row
};
/// Output of values: one column, or one column per half.
struct value_columns {
  word* lower = nullptr;
  word* upper = nullptr;  ///< unused for 32-bit values
};

/// Groups rows that are equal in all columns.
/// @param columns a device array of `count` >= 1 columns
/// @param rows fewer than 2^32 - 1
/// @param representatives by row: the representative row of the group
/// @param groups space for `rows` entries: the representative rows
/// @return the number of groups
std::uint64_t group_rows(const backend::gpu::device_context& context, backend::memory_resource& resource,
                         const word* const* columns, std::uint32_t count, std::uint64_t rows,
                         std::uint32_t* representatives, std::uint32_t* groups);

/// out[i] = column[rows[i]]
void gather_rows(const backend::gpu::device_context& context, const word* column, const std::uint32_t* rows,
                 std::uint64_t n, word* out);

/// The accumulated values of an aggregate, by group.
template <class Word>
struct fold_cells {
  std::uint64_t* counts = nullptr;  ///< for a sum of 32-bit numbers: the sum in 64 bits
  double* sums = nullptr;
  Word* words = nullptr;
  bool is_signed = true;  ///< for a count or sum: whether the result is signed
};
/// Starts the accumulated values.
template <class Word>
void clear_fold(const backend::gpu::device_context& context, fold_op op, const fold_cells<Word>& cells,
                std::uint64_t groups);
/// Adds value i to group owners[i]; a count needs no values.
template <class Word>
void add_to_fold(const backend::gpu::device_context& context, fold_op op, const word* owners,
                 const row_values<Word>& values, std::uint64_t n, const fold_cells<Word>& cells);
/// Like add_to_fold, with multiplicities: adds the value of row i matches[i] times, or counts matches[i].
template <class Word>
void add_row_counts(const backend::gpu::device_context& context, fold_op op, const word* owners,
                    const row_values<Word>& values, const std::uint64_t* matches, std::uint64_t n,
                    const fold_cells<Word>& cells);
/// Returns whether every group has a value, even without matches.
[[nodiscard]] bool always_has_value(fold_op op);
/// Lists the rows whose group has a value, in order.
/// @param representatives null: all rows belong to group 0
/// @return the number of rows
std::uint64_t rows_with_value(const backend::gpu::device_context& context, backend::memory_resource& resource,
                              const std::uint64_t* counts, const std::uint32_t* representatives, std::uint64_t rows,
                              std::uint32_t* kept);
/// Stores the value of the group of row kept[i] (null: row i) as result i.
/// @param wraps_around set to 1 if a count, or a sum of 32-bit numbers, overflows a word
template <class Word>
void fold_values(const backend::gpu::device_context& context, fold_op op, const fold_cells<Word>& cells,
                 const std::uint32_t* representatives, const std::uint32_t* kept, std::uint64_t n,
                 const value_columns& results, std::uint64_t* wraps_around);

/// range(from, to, step) per row.
template <class Word>
struct range_rows {
  value_kind kind{};
  row_values<Word> from;
  row_values<Word> to;
  row_values<Word> step;
  bool has_step = false;
  std::uint64_t rows = 0;
};
/// Computes rows + 1 prefix sums of the range sizes.
/// @return the total number of values
template <class Word>
std::uint64_t count_range_values(const backend::gpu::device_context& context, backend::memory_resource& resource,
                                 const range_rows<Word>& ranges, std::uint64_t* offsets);
/// Writes values [first, last) of the concatenated ranges, and the row of each value.
template <class Word>
void make_range_values(const backend::gpu::device_context& context, const range_rows<Word>& ranges,
                       const std::uint64_t* offsets, std::uint64_t first, std::uint64_t last,
                       const value_columns& values, std::uint32_t* owners);

}  // namespace gpulog::kernels::gpu
