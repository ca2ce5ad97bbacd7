#include "engine/rows/row_difference.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include "engine/rows/column_index.hpp"

namespace gpulog::detail {
namespace {

bool are_equal_rows(const row_view& left, std::uint64_t row, const row_view& right, std::uint64_t other) {
  for (std::size_t c = 0; c < left.columns.size(); ++c) {
    if (left.columns[c][row] != right.columns[c][other]) return false;
  }
  return true;
}

void read_row(const row_view& from, std::uint64_t row, std::vector<word>& to) {
  for (std::size_t c = 0; c < from.columns.size(); ++c) to[c] = from.columns[c][row];
}

/// Returns the numbers of rows without an equal row near the same position of `others`.
std::vector<std::uint64_t> unmatched_rows(const row_view& all, const row_view& others) {
  constexpr std::uint64_t longest_shift = 8;  // by inserted and removed rows
  std::vector<std::uint64_t> unmatched;
  std::uint64_t other = 0;
  for (std::uint64_t row = 0; row < all.rows; ++row, ++other) {
    bool is_matched = false;
    for (std::uint64_t shift = 0; shift <= longest_shift && other < others.rows && !is_matched; ++shift) {
      if (row + shift < all.rows && are_equal_rows(all, row + shift, others, other)) {
        is_matched = true;
        for (const std::uint64_t end = row + shift; row < end; ++row) unmatched.push_back(row);
      } else if (other + shift < others.rows && are_equal_rows(all, row, others, other + shift)) {
        is_matched = true;
        other += shift;
      }
    }
    if (!is_matched) unmatched.push_back(row);
  }
  return unmatched;
}

/// Copies rows of a relation by number.
staged_rows picked(const row_view& from, const std::vector<std::uint64_t>& numbers, backend::memory_resource& memory) {
  staged_rows rows;
  rows.rows = numbers.size();
  for (const word* const column : from.columns) {
    word* to = rows.columns.emplace_back(memory, rows.rows).data();
    for (const std::uint64_t number : numbers) *to++ = column[number];
  }
  return rows;
}

/// Returns the numbers of the rows of `all` that are missing in `others`.
std::vector<std::uint64_t> missing_rows(const row_view& all, const row_view& others, backend::memory_resource& memory) {
  std::vector<bool> has_equal(all.rows);
  std::vector<word> row(all.columns.size());
  const bool is_smaller = all.rows <= others.rows;  // the smaller side gets the index
  const row_view& indexed = is_smaller ? all : others;
  const row_view& searched = is_smaller ? others : all;
  const column_index index(indexed.columns, indexed.rows, memory);
  for (std::uint64_t i = 0; i < searched.rows; ++i) {
    read_row(searched, i, row);
    if (is_smaller) {
      index.for_each(row, [&has_equal](std::uint64_t place) {
        has_equal[place] = true;
        return true;
      });
    } else {
      has_equal[i] = index.contains(row);
    }
  }
  std::vector<std::uint64_t> missing;
  for (std::uint64_t i = 0; i < all.rows; ++i) {
    if (!has_equal[i]) missing.push_back(i);
  }
  return missing;
}

}  // namespace

staged_rows rows_only_in(const row_view& all, const row_view& others, backend::memory_resource& memory) {
  staged_rows rows;
  if (all.columns.empty()) {
    rows.rows = all.rows != 0 && others.rows == 0 ? 1 : 0;
    return rows;
  }
  rows = picked(all, unmatched_rows(all, others), memory);
  if (rows.rows == 0) return rows;
  const row_view unmatched{rows.pointers(), rows.rows};
  return picked(unmatched, missing_rows(unmatched, others, memory), memory);
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
