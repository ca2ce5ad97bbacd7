#include "storage/factorized/path_labels.hpp"

#include <algorithm>

namespace gpulog::storage {

path_labels::path_labels(backend::memory_resource& resource, const factorized_graph& graph)
    : graph_(&graph),
      range_size_(graph.vertices / (range_words * 64) + 1),
      interval_(resource, graph.vertices, backend::fresh_memory::anything),
      ranges_(resource, std::uint64_t{graph.vertices} * range_words),
      origins_(resource, std::uint64_t{graph.vertices} * range_words) {
  // Returns the lowest component of the tree, including the component itself.
  const auto begin_of_tree = [&](std::uint32_t component) {
    const std::uint32_t behind = graph.first[component + 1ULL];
    const bool goes_on = behind != graph.first[component] && graph.successors[behind - 1] + 1 == component;
    return goes_on ? interval_[component] : component;
  };
  for (std::uint32_t vertex = 0; vertex < graph.vertices; ++vertex) {
    const std::uint32_t begin = graph.first[vertex];
    const std::uint32_t end = graph.first[vertex + 1ULL];
    std::uint64_t* const ranges = ranges_.data() + std::uint64_t{vertex} * range_words;
    const auto mark = [&](std::uint32_t component) {
      const std::uint32_t range = component / range_size_;
      ranges[range / 64] |= 1ULL << range % 64;
    };
    if (vertex < graph.components && graph.is_cyclic[vertex] != 0) mark(vertex);
    std::uint32_t lowest = begin == end ? vertex : graph.successors[end - 1] + 1;
    bool is_interval = true;  // whether the tree is contiguous so far
    for (std::uint32_t i = end; i > begin; --i) {
      const std::uint32_t next = graph.successors[i - 1];
      mark(next);
      for (std::uint32_t w = 0; w < range_words; ++w) ranges[w] |= ranges_[std::uint64_t{next} * range_words + w];
      is_interval = is_interval && next + 1 >= lowest;
      if (is_interval && next < lowest) lowest = begin_of_tree(next);
    }
    interval_[vertex] = lowest;
  }
  for (std::uint32_t vertex = graph.vertices; vertex-- > 0;) {
    const std::uint64_t* const own = origins_.data() + std::uint64_t{vertex} * range_words;
    for (std::uint32_t i = graph.first[vertex]; i < graph.first[vertex + 1ULL]; ++i) {
      std::uint64_t* const next = origins_.data() + std::uint64_t{graph.successors[i]} * range_words;
      for (std::uint32_t w = 0; w < range_words; ++w) next[w] |= own[w];
      next[vertex / range_size_ / 64] |= 1ULL << vertex / range_size_ % 64;
    }
  }
}

}  // namespace gpulog::storage
