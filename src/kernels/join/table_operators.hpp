#pragma once

#include <cstdint>

#include "backend/array.hpp"
#include "backend/gpu/device.hpp"
#include "storage/symbols/device_values.hpp"
#include "support/operations.hpp"
#include "support/value_types.hpp"

/// Operators over whole tables of bindings in device memory, for what is no expansion by an index: aggregates and
/// ranges. All of them are ordered on the context's stream; those that return a number wait for it.
namespace gpulog::kernels::gpu {

/// Values of the rows of a table of bindings, with what it takes to read those of 64 bits.
/// @tparam Word of 32 bits: columns hold the values; of 64 bits: codes or halves
template <class Word>
struct row_values {
  storage::gpu::value_column column;
  const word* numbered = nullptr;  ///< as storage::gpu::value_of_row
};
/// Where values go: one column, or those of their halves.
struct value_columns {
  word* lower = nullptr;
  word* upper = nullptr;  ///< of 32 bits: not used
};

/// Finds rows that are equal in all columns.
/// @param columns a device array of `count` >= 1 columns @param rows fewer than 2^32 - 1
/// @param representatives one a row: the row that stands for its group
/// @param groups at least `rows`: the rows that stand for themselves @return how many
std::uint64_t group_rows(const backend::gpu::device_context& context, backend::memory_resource& resource,
                         const word* const* columns, std::uint32_t count, std::uint64_t rows,
                         std::uint32_t* representatives, std::uint32_t* groups);

/// out[i] = column[rows[i]]
void gather_rows(const backend::gpu::device_context& context, const word* column, const std::uint32_t* rows,
                 std::uint64_t n, word* out);

/// What an aggregate has of each group so far.
template <class Word>
struct fold_cells {
  std::uint64_t* counts = nullptr;  ///< of a sum of 32-bit numbers: that, in 64 bits
  double* sums = nullptr;
  Word* words = nullptr;
  bool is_signed = true;  ///< of a count or sum: its result is a number, not an unsigned number
};
/// Before the first value.
template <class Word>
void clear_fold(const backend::gpu::device_context& context, fold_op op, const fold_cells<Word>& cells,
                std::uint64_t groups);
/// Value number i belongs to group owners[i]; count needs no values.
template <class Word>
void add_to_fold(const backend::gpu::device_context& context, fold_op op, const word* owners,
                 const row_values<Word>& values, std::uint64_t n, const fold_cells<Word>& cells);
/// The same with as many values as there are matches of row i: they are counted, or its value is added so often.
template <class Word>
void add_row_counts(const backend::gpu::device_context& context, fold_op op, const word* owners,
                    const row_values<Word>& values, const std::uint64_t* matches, std::uint64_t n,
                    const fold_cells<Word>& cells);
/// Whether every group has a value, also one that nothing was added to.
[[nodiscard]] bool always_has_value(fold_op op);
/// Numbers of the rows whose group has a value, in their order. @param representatives null: all are of group 0
/// @return how many
std::uint64_t rows_with_value(const backend::gpu::device_context& context, backend::memory_resource& resource,
                              const std::uint64_t* counts, const std::uint32_t* representatives, std::uint64_t rows,
                              std::uint32_t* kept);
/// Result number i = the value of the group of row kept[i] (null: row i).
/// @param wraps_around gets 1 where a count, or a sum of 32-bit numbers, needs more bits than words have
template <class Word>
void fold_values(const backend::gpu::device_context& context, fold_op op, const fold_cells<Word>& cells,
                 const std::uint32_t* representatives, const std::uint32_t* kept, std::uint64_t n,
                 const value_columns& results, std::uint64_t* wraps_around);

/// range(from, to, step) of each row.
template <class Word>
struct range_rows {
  value_kind kind{};
  row_values<Word> from;
  row_values<Word> to;
  row_values<Word> step;
  bool has_step = false;
  std::uint64_t rows = 0;
};
/// offsets: rows + 1 sums of the numbers of values. @return their number
template <class Word>
std::uint64_t count_range_values(const backend::gpu::device_context& context, backend::memory_resource& resource,
                                 const range_rows<Word>& ranges, std::uint64_t* offsets);
/// Values number [first, last) of all rows', and the rows that they belong to.
template <class Word>
void make_range_values(const backend::gpu::device_context& context, const range_rows<Word>& ranges,
                       const std::uint64_t* offsets, std::uint64_t first, std::uint64_t last,
                       const value_columns& values, std::uint32_t* owners);

}  // namespace gpulog::kernels::gpu
