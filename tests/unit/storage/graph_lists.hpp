#pragma once

#include <cstdint>
#include <set>
#include <utility>
#include <vector>

#include "storage/factorized/component_search.hpp"
#include "support/ids.hpp"

/// Graphs of tests as lists of successors.
namespace gpulog::storage {

using pairs = std::set<std::pair<word, word>>;

/// A graph as lists.
struct lists {
  lists(std::uint32_t count, const pairs& of) : first(count + 1) {
    for (const auto& [from, to] : of) {
      ++first[from + 1];
      all.push_back(to);
    }
    for (std::uint32_t i = 0; i < count; ++i) first[i + 1] += first[i];
  }
  [[nodiscard]] list_view view() const { return {first.data(), all.data()}; }

  std::vector<std::uint32_t> first;
  std::vector<std::uint32_t> all;
};

}  // namespace gpulog::storage
