#include "engine/rows/membership.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "storage/sets/hash.hpp"

namespace gpulog::detail {
namespace {

/// At most half of the slots are used, so that probe sequences are short.
constexpr std::uint64_t slots_of_row = 2;

/// Number of pairs read per block.
constexpr std::uint64_t pairs_of_block = 1U << 16;

}  // namespace

row_index::row_index(std::vector<const word*> columns, std::uint64_t rows, backend::memory_resource& memory)
    : columns_(std::move(columns)), slots_(memory, slots_of_row * rows) {
  for (std::uint64_t row = 0; row < rows; ++row) {
    storage::key_hash hash;
    for (const word* const column : columns_) hash.add(column[row]);
    std::uint64_t slot = storage::scale(hash.value(), slots_.size());
    while (slots_[slot] != 0) slot = slot + 1 == slots_.size() ? 0 : slot + 1;
    slots_[slot] = row + 1;
  }
}

bool row_index::is_row(std::uint64_t number, std::span<const word> row) const {
  for (std::size_t c = 0; c < columns_.size(); ++c) {
    if (columns_[c][number] != row[c]) return false;
  }
  return true;
}

bool row_index::contains(std::span<const word> row) const {
  if (slots_.size() == 0) return false;
  storage::key_hash hash;
  for (const word value : row) hash.add(value);
  std::uint64_t slot = storage::scale(hash.value(), slots_.size());
  while (slots_[slot] != 0) {
    if (is_row(slots_[slot] - 1, row)) return true;
    slot = slot + 1 == slots_.size() ? 0 : slot + 1;
  }
  return false;
}

element_classes::element_classes(const exec::executor& executor, relation_id relation) {
  std::vector<word> left(pairs_of_block);
  std::vector<word> right(pairs_of_block);
  word* const columns[] = {left.data(), right.data()};
  const std::uint64_t pairs = executor.rows(relation);
  for (std::uint64_t first = 0; first < pairs; first += pairs_of_block) {
    const std::uint64_t count = std::min(pairs_of_block, pairs - first);
    executor.read_pairs(relation, first, count, columns);
    for (std::uint64_t i = 0; i < count; ++i) {
      word& smallest = smallest_.try_emplace(left[i], right[i]).first->second;
      smallest = std::min(smallest, right[i]);
    }
  }
}

bool element_classes::are_equal(word left, word right) const {
  const auto one = smallest_.find(left);
  const auto other = smallest_.find(right);
  return one != smallest_.end() && other != smallest_.end() && one->second == other->second;
}

}  // namespace gpulog::detail
