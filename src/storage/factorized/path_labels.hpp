#pragma once

#include <cstdint>
#include <optional>

#include "storage/factorized/factorized_graph.hpp"

namespace gpulog::storage {

/// What tells most times whether a path leads from a vertex of a factorized graph to a component, without a search.
/// Components have numbers in the order in which a depth-first search left them, so what is below a vertex in its tree
/// is an interval (Agrawal, Borgida, Jagadish 1989). Labels say which ranges of components a vertex leads to at all,
/// and which ranges of vertices lead to it, as Bloom filters over that order would (Su and others 2017).
class path_labels {
 public:
  /// The graph outlives it. @throws backend::memory_exceeded
  path_labels(backend::memory_resource& resource, const factorized_graph& graph);

  [[nodiscard]] std::uint64_t bytes() const { return interval_.bytes() + ranges_.bytes() + origins_.bytes(); }
  /// Whether a path of one and more edges leads there; nothing: only a search can tell.
  [[nodiscard]] std::optional<bool> leads(std::uint32_t vertex, std::uint32_t component) const {
    const factorized_graph& graph = *graph_;
    if (vertex == component) return graph.is_cyclic[component] != 0;
    if (vertex < component || component < graph.lowest[vertex]) return false;
    const std::uint32_t behind = graph.first[vertex + 1ULL];
    if (component > graph.successors[behind - 1]) return false;  // there is one, as there is a lowest component below
    if (component >= interval_[vertex]) return true;
    const std::uint32_t range = component / range_size_;
    if ((ranges_[std::uint64_t{vertex} * range_words + range / 64] >> range % 64 & 1) == 0) return false;
    const std::uint64_t* const of_vertex = origins_.data() + std::uint64_t{vertex} * range_words;
    const std::uint64_t* const of_component = origins_.data() + std::uint64_t{component} * range_words;
    for (std::uint32_t w = 0; w < range_words; ++w) {
      if ((of_vertex[w] & ~of_component[w]) != 0) return false;  // what leads to the vertex would lead on
    }
    return std::nullopt;
  }

 private:
  static constexpr std::uint32_t range_words = 4;

  const factorized_graph* graph_;
  std::uint32_t range_size_;
  /// By vertex: it leads to all components from this one on to its last successor.
  backend::array<std::uint32_t> interval_;
  backend::array<std::uint64_t> ranges_;   // by vertex: a bit for each range that it leads to
  backend::array<std::uint64_t> origins_;  // by vertex: a bit for each range that leads to it
};

}  // namespace gpulog::storage
