#pragma once

#include <algorithm>
#include <cstdint>
#include <random>
#include <set>
#include <utility>
#include <vector>

#include "storage/factorized/component_search.hpp"
#include "support/ids.hpp"

/// Graphs for tests, as lists of successors.
namespace gpulog::storage {

using pairs = std::set<std::pair<word, word>>;

/// A graph as lists.
struct lists {
  /// @param of pairs, grouped by ascending first number
  template <class Pairs>
  lists(std::uint32_t count, const Pairs& of) : first(count + 1) {
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

/// Returns, by vertex, the vertices reachable by paths of one or more edges.
inline std::vector<std::vector<bool>> reached(std::uint32_t vertices, const lists& graph) {
  std::vector<std::vector<bool>> leads_to(vertices, std::vector<bool>(vertices));
  for (std::uint32_t vertex = 0; vertex < vertices; ++vertex) {
    std::vector<std::uint32_t> queue = {vertex};
    for (std::size_t head = 0; head < queue.size(); ++head) {
      for (std::uint32_t i = graph.first[queue[head]]; i < graph.first[queue[head] + 1]; ++i) {
        if (leads_to[vertex][graph.all[i]]) continue;
        leads_to[vertex][graph.all[i]] = true;
        queue.push_back(graph.all[i]);
      }
    }
  }
  return leads_to;
}

/// Returns a random graph, with loops and repeated edges: arbitrary edges, only ascending or descending edges, or both
/// kinds within groups of adjacent numbers. Vertices above a random number may have no edges.
inline lists random_lists(std::mt19937& random, std::uint32_t vertices) {
  std::multiset<std::pair<word, word>> edges;
  const std::uint32_t shape = random() % 5;
  const std::uint32_t group = shape < 3 ? 1 : 1 + random() % (vertices / 2 + 1);
  const std::uint32_t used = random() % 2 == 0 ? vertices : 1 + random() % vertices;
  for (std::uint32_t i = random() % (3 * vertices + 1); i > 0; --i) {
    word from = random() % used;
    word to = random() % 8 == 0 ? from : random() % used;
    if (shape != 0 && from / group != to / group && (from < to) != (shape % 2 == 0)) std::swap(from, to);
    edges.emplace(from, to);
    if (random() % 8 == 0) edges.emplace(from, to);
  }
  return {vertices, edges};
}

/// Returns all vertices with edges, all targets of edges, or some vertices.
inline std::vector<std::uint32_t> random_starts(std::mt19937& random, std::uint32_t vertices, const lists& graph) {
  std::vector<std::uint32_t> starts = graph.all;
  const std::uint32_t kind = random() % 4;
  if (kind == 0) {
    starts.clear();
    for (std::uint32_t i = random() % (vertices + 1); i > 0; --i) starts.push_back(random() % vertices);
  }
  for (std::uint32_t vertex = 0; vertex < vertices; ++vertex) {
    const bool has_edges = graph.first[vertex] != graph.first[vertex + 1ULL];
    if ((kind == 1 && has_edges) || (kind == 2 && random() % 4 == 0)) starts.push_back(vertex);
  }
  std::shuffle(starts.begin(), starts.end(), random);
  return starts;
}

}  // namespace gpulog::storage
