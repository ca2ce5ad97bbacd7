#include "engine/rows/element_classes.hpp"

#include <algorithm>
#include <vector>

namespace gpulog::detail {
namespace {

/// Number of pairs read per block.
constexpr std::size_t pairs_of_block = 1U << 16;

}  // namespace

element_classes::element_classes(const exec::executor& executor, relation_id relation) {
  std::vector<word> left(pairs_of_block);
  std::vector<word> right(pairs_of_block);
  word* const columns[] = {left.data(), right.data()};
  const std::uint64_t pairs = executor.rows(relation);
  for (std::uint64_t first = 0; first < pairs; first += pairs_of_block) {
    const auto count = static_cast<std::size_t>(std::min<std::uint64_t>(pairs_of_block, pairs - first));
    executor.read_pairs(relation, first, count, columns);
    for (std::size_t i = 0; i < count; ++i) {
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
