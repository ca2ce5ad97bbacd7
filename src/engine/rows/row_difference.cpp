#include "engine/rows/row_difference.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include "engine/rows/column_index.hpp"

namespace gpulog::detail {
namespace {

bool are_equal(const row_view& left, std::uint64_t row, const row_view& right, std::uint64_t other) {
  for (std::size_t c = 0; c < left.columns.size(); ++c) {
    if (left.columns[c][row] != right.columns[c][other]) return false;
  }
  return true;
}

void read_row(const row_view& from, std::uint64_t row, std::vector<word>& to) {
  for (std::size_t c = 0; c < from.columns.size(); ++c) to[c] = from.columns[c][row];
}

/// Returns, for the rows [first, last) of `all`, whether `others` lacks the row.
std::vector<bool> missing_rows(const row_view& all, std::uint64_t first, std::uint64_t last, const row_view& others,
                               backend::memory_resource& memory) {
  std::vector<bool> missing(last - first, true);
  std::vector<word> row(all.columns.size());
  row_view range{all.columns, last - first};
  for (const word*& column : range.columns) column += first;
  // The smaller side gets the index.
  if (range.rows <= others.rows) {
    const column_index index(range.columns, range.rows, memory);
    for (std::uint64_t i = 0; i < others.rows; ++i) {
      read_row(others, i, row);
      index.for_each(row, [&missing](std::uint64_t place) {
        missing[place] = false;
        return true;
      });
    }
    return missing;
  }
  const column_index index(others.columns, others.rows, memory);
  for (std::uint64_t i = 0; i < range.rows; ++i) {
    read_row(range, i, row);
    missing[i] = !index.contains(row);
  }
  return missing;
}

}  // namespace

staged_rows rows_only_in(const row_view& all, const row_view& others, backend::memory_resource& memory) {
  staged_rows result;
  if (all.columns.empty()) {
    result.rows = all.rows != 0 && others.rows == 0 ? 1 : 0;
    return result;
  }
  const std::uint64_t common = std::min(all.rows, others.rows);
  std::uint64_t first = 0;
  while (first < common && are_equal(all, first, others, first)) ++first;
  std::uint64_t last = all.rows;
  while (all.rows - last < common - first && are_equal(all, last - 1, others, others.rows - (all.rows - last) - 1))
    --last;
  const std::vector<bool> missing = missing_rows(all, first, last, others, memory);
  std::vector<word> row(all.columns.size());
  for (std::uint64_t i = first; i < last; ++i) {
    if (!missing[i - first]) continue;
    read_row(all, i, row);
    append_row(result, row, memory);
  }
  return result;
}

staged_rows joined(std::vector<staged_rows> blocks, std::size_t columns, backend::memory_resource& memory) {
  if (blocks.size() == 1) return std::move(blocks.front());
  staged_rows all;
  for (const staged_rows& block : blocks) all.rows += block.rows;
  for (std::size_t c = 0; c < columns; ++c) {
    word* to = all.columns.emplace_back(memory, all.rows).data();
    for (const staged_rows& block : blocks) to = std::copy_n(block.columns[c].data(), block.rows, to);
  }
  return all;
}

}  // namespace gpulog::detail
