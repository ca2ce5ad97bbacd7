#pragma once

#include <cstdint>
#include <vector>

#include "backend/array.hpp"
#include "backend/gpu/device.hpp"
#include "support/operations.hpp"
#include "support/value_types.hpp"

/// Operators over whole tables of bindings in device memory, for what is no expansion by an index: aggregates and
/// ranges. All of them are ordered on the context's stream; those that return a number wait for it.
namespace gpulog::kernels::gpu {

/// A value for each row of a table: a column, or a constant.
struct row_value {
  const word* column = nullptr;  ///< null: the constant
  word constant = 0;
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
struct fold_cells {
  std::uint64_t* counts = nullptr;
  double* sums = nullptr;
  word* words = nullptr;
};
/// Before the first value.
void clear_fold(const backend::gpu::device_context& context, fold_op op, const fold_cells& cells, std::uint64_t groups);
/// values[i] belongs to group owners[i]. values: null for count.
void add_to_fold(const backend::gpu::device_context& context, fold_op op, const word* owners, const word* values,
                 std::uint64_t n, const fold_cells& cells);
/// Whether every group has a value, also one that nothing was added to.
[[nodiscard]] bool always_has_value(fold_op op);
/// Numbers of the rows whose group has a value, in their order. @param representatives null: all are of group 0
/// @return how many
std::uint64_t rows_with_value(const backend::gpu::device_context& context, backend::memory_resource& resource,
                              const fold_cells& cells, const std::uint32_t* representatives, std::uint64_t rows,
                              std::uint32_t* kept);
/// results[i] = the value of the group of row kept[i] (null: row i).
void fold_values(const backend::gpu::device_context& context, fold_op op, const fold_cells& cells,
                 const std::uint32_t* representatives, const std::uint32_t* kept, std::uint64_t n, word* results);

/// range(from, to, step) of each row.
struct range_rows {
  value_kind kind{};
  row_value from;
  row_value to;
  row_value step;
  bool has_step = false;
  std::uint64_t rows = 0;
};
/// offsets: rows + 1 sums of the numbers of values. @return their number
std::uint64_t count_range_values(const backend::gpu::device_context& context, backend::memory_resource& resource,
                                 const range_rows& ranges, std::uint64_t* offsets);
/// Values number [first, last) of all rows', and the rows that they belong to.
void make_range_values(const backend::gpu::device_context& context, const range_rows& ranges,
                       const std::uint64_t* offsets, std::uint64_t first, std::uint64_t last, word* values,
                       std::uint32_t* owners);

}  // namespace gpulog::kernels::gpu
