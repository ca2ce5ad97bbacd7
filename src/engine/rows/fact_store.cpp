#include "engine/rows/fact_store.hpp"

#include <algorithm>
#include <iterator>
#include <numeric>
#include <stdexcept>
#include <utility>

namespace gpulog::detail {

void fact_store::resize(std::size_t relations) {
  staged_.resize(relations);
  erased_.resize(relations);
  kept_.resize(relations);
}

void fact_store::clear() {
  for (std::uint32_t number = 0; number < size(); ++number) clear(number);
}

void fact_store::clear(std::uint32_t relation) {
  staged_[relation].clear();
  erased_[relation] = {};
  kept_[relation].clear();
}

std::uint64_t fact_store::rows(std::uint32_t relation) const {
  return std::accumulate(staged_[relation].begin(), staged_[relation].end(), std::uint64_t{0},
                         [](std::uint64_t sum, const staged_rows& block) { return sum + block.rows; });
}

std::uint64_t fact_store::rows() const {
  std::uint64_t sum = 0;
  for (std::uint32_t number = 0; number < size(); ++number) sum += rows(number);
  return sum;
}

word fact_store::at(std::uint32_t relation, std::uint64_t row, std::size_t column) const {
  for (const staged_rows& block : staged_[relation]) {
    if (row < block.rows) return block.columns[column][row];
    row -= block.rows;
  }
  throw std::out_of_range("row of a relation");
}

bool fact_store::contains(std::uint32_t relation, std::span<const word> row) const {
  const auto has_row = [row](const staged_rows& block) {
    for (std::uint64_t i = 0; i < block.rows; ++i) {
      std::size_t column = 0;
      while (column < row.size() && block.columns[column][i] == row[column]) ++column;
      if (column == row.size()) return true;
    }
    return false;
  };
  return std::any_of(staged_[relation].begin(), staged_[relation].end(), has_row);
}

std::vector<value_range> fact_store::values_in(const std::vector<plan::column_place>& columns) const {
  std::vector<value_range> ranges;
  for (const plan::column_place& place : columns) {
    if (place.relation.value >= size()) continue;
    for (const staged_rows& block : staged_[place.relation.value])
      ranges.push_back({block.columns[place.column].data(), block.rows});
  }
  return ranges;
}

bool fact_store::is_erased(std::uint32_t relation, const std::vector<word>& row) const {
  return erased_[relation].blocks_before.contains(row);
}

void fact_store::stage_row(std::uint32_t relation, std::span<const word> row) {
  auto& blocks = staged_[relation];
  // Erased rows apply to the blocks that existed at that time.
  const bool ends_block = has_erased(relation) && erased_[relation].latest == blocks.size();
  if (blocks.empty() || ends_block) blocks.emplace_back();
  append_row(blocks.back(), row, *memory_);
}

void fact_store::erase(std::uint32_t relation, std::vector<word> row, bool at_once) {
  erased_rows& rows = erased_[relation];
  rows.latest = rows.blocks_before[std::move(row)] = staged_[relation].size();
  if (at_once) drop_erased(staged_[relation], rows);
}

void fact_store::erase(std::uint32_t relation, const staged_rows& block, bool at_once) {
  erased_rows& rows = erased_[relation];
  for (std::uint64_t i = 0; i < block.rows; ++i) {
    std::vector<word> row;
    for (const auto& column : block.columns) row.push_back(column[i]);
    rows.latest = rows.blocks_before[std::move(row)] = staged_[relation].size();
  }
  if (at_once) drop_erased(staged_[relation], rows);
}

staged_facts fact_store::take_others(const std::vector<bool>& relations) {
  staged_facts others(size());
  for (std::uint32_t number = 0; number < size(); ++number) {
    if (!relations[number]) others[number] = take(number);
  }
  return others;
}

void fact_store::restore(staged_facts others) {
  for (std::uint32_t number = 0; number < size(); ++number) {
    if (!others[number].empty()) staged_[number] = std::move(others[number]);
  }
}

void fact_store::keep_staged(std::uint32_t relation) {
  for (const staged_rows& block : staged_[relation]) kept_[relation].push_back(copy_of(block, *memory_));
}

staged_rows fact_store::erased(std::uint32_t relation) const {
  staged_rows block;
  for (const auto& [row, before] : erased_[relation].blocks_before) append_row(block, row, *memory_);
  return block;
}

void fact_store::stage_before(std::uint32_t relation, std::vector<staged_rows> earlier) {
  const std::size_t before = earlier.size();
  auto& blocks = staged_[relation];
  std::move(blocks.begin(), blocks.end(), std::back_inserter(earlier));
  drop_erased(earlier, std::exchange(erased_[relation], {}), before);
  std::erase_if(earlier, [](const staged_rows& block) { return block.rows == 0; });
  blocks = std::move(earlier);
}

}  // namespace gpulog::detail
