#pragma once

#include <cstdint>
#include <optional>

#include "storage/factorized/factorized_graph.hpp"

namespace gpulog::storage {

/// Labels that usually tell without a search whether a path leads from a vertex of a factorized graph to a component.
/// The number of a component is the position at which a depth-first search completed the component, so the subtree of a
/// vertex is an interval (Agrawal, Borgida, Jagadish 1989). Labels also record the ranges of components reachable from
/// a vertex and the ranges of vertices that lead to the vertex, like Bloom filters over this order (Su and others
/// 2017).
class path_labels {
 public:
  /// @param graph must outlive the labels
  /// @throws backend::memory_exceeded
  path_labels(backend::memory_resource& resource, const factorized_graph& graph);

  [[nodiscard]] std::uint64_t bytes() const { return interval_.bytes() + ranges_.bytes() + origins_.bytes(); }
  /// Returns whether a path of at least one edge leads to the component; nothing if only a search can tell.
  [[nodiscard]] std::optional<bool> leads(std::uint32_t vertex, std::uint32_t component) const {
    const factorized_graph& graph = *graph_;
    if (vertex == component) return graph.is_cyclic[component] != 0;
    if (vertex < component || component < graph.lowest[vertex]) return false;
    const std::uint32_t behind = graph.first[vertex + 1ULL];
    // A successor exists because lowest[vertex] <= component.
    if (component > graph.successors[behind - 1]) return false;
    if (component >= interval_[vertex]) return true;
    const std::uint32_t range = component / range_size_;
    if ((ranges_[std::uint64_t{vertex} * range_words + range / 64] >> range % 64 & 1) == 0) return false;
    const std::uint64_t* const of_vertex = origins_.data() + std::uint64_t{vertex} * range_words;
    const std::uint64_t* const of_component = origins_.data() + std::uint64_t{component} * range_words;
    for (std::uint32_t w = 0; w < range_words; ++w) {
      // A range that leads to the vertex would also lead to the component.
      if ((of_vertex[w] & ~of_component[w]) != 0) return false;
    }
    return std::nullopt;
  }

 private:
  static constexpr std::uint32_t range_words = 4;

  const factorized_graph* graph_;
  std::uint32_t range_size_;
  /// By vertex: start of the interval of reachable components that ends at the vertex's last successor.
  backend::array<std::uint32_t> interval_;
  backend::array<std::uint64_t> ranges_;   // by vertex: a bit for each reachable range
  backend::array<std::uint64_t> origins_;  // by vertex: a bit for each range that leads to the vertex
};

}  // namespace gpulog::storage
