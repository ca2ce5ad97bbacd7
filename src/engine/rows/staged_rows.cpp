#include "engine/rows/staged_rows.hpp"

#include <algorithm>

namespace gpulog::detail {

void drop_erased(std::span<staged_rows> blocks, const erased_rows& erased, std::size_t before) {
  if (erased.empty()) return;
  std::vector<word> row;
  for (std::size_t number = 0; number < blocks.size(); ++number) {
    staged_rows& block = blocks[number];
    std::uint64_t left = 0;
    for (std::uint64_t i = 0; i < block.rows; ++i) {
      row.clear();
      for (const auto& column : block.columns) row.push_back(column[i]);
      const auto found = erased.blocks_before.find(row);
      if (found != erased.blocks_before.end() && number < found->second + before) continue;
      for (auto& column : block.columns) column[left] = column[i];
      ++left;
    }
    block.rows = left;
    for (auto& column : block.columns) column.resize(left);
  }
}

void append_row(staged_rows& block, std::span<const word> row, backend::memory_resource& memory) {
  while (block.columns.size() < row.size()) block.columns.emplace_back(memory);
  for (std::size_t c = 0; c < row.size(); ++c) {
    // Overwrites the words of a row that failed.
    block.columns[c].resize(block.rows);
    block.columns[c].push_back(row[c]);
  }
  ++block.rows;
}

staged_rows copy_of(const staged_rows& block, backend::memory_resource& memory) {
  staged_rows copy;
  copy.rows = block.rows;
  for (const auto& column : block.columns)
    std::copy_n(column.data(), block.rows, copy.columns.emplace_back(memory, block.rows).data());
  return copy;
}

}  // namespace gpulog::detail
