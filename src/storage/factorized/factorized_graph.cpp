#include "storage/factorized/factorized_graph.hpp"

#include <algorithm>
#include <bit>
#include <utility>

#include "storage/sets/hash.hpp"

namespace gpulog::storage {
namespace {

using backend::array;
using backend::memory_resource;

/// Finds, and makes, the vertex that leads to a list of components.
class vertex_lists {
 public:
  vertex_lists(memory_resource& resource, factorized_graph& graph, std::uint64_t sources)
      : graph_(&graph), slots_(resource, std::bit_ceil((graph.components + sources) * 2 + 1)) {
    for (std::uint32_t component = 0; component < graph.components; ++component) {
      if (graph.is_cyclic[component] == 0) slots_[slot_of(begin_of(component), size_of(component))] = component + 1;
    }
  }

  /// @param components ascending, each once
  [[nodiscard]] std::uint32_t vertex_of(const std::uint32_t* components, std::uint32_t n) {
    const bool is_one = n != 0 && leads_to_others(components, n);
    if (is_one) return components[n - 1];
    const std::uint64_t slot = slot_of(components, n);
    if (slots_[slot] == 0) slots_[slot] = add(components, n) + 1;
    return slots_[slot] - 1;
  }

 private:
  [[nodiscard]] const std::uint32_t* begin_of(std::uint32_t vertex) const {
    return graph_->successors.data() + graph_->first[vertex];
  }
  [[nodiscard]] std::uint32_t size_of(std::uint32_t vertex) const {
    return graph_->first[vertex + 1ULL] - graph_->first[vertex];
  }
  /// Whether the last one leads to itself and to all others: then a source that begins there is as good as one of it.
  [[nodiscard]] bool leads_to_others(const std::uint32_t* components, std::uint32_t n) const {
    const std::uint32_t last = components[n - 1];
    const std::uint32_t* const own = begin_of(last);
    return graph_->is_cyclic[last] != 0 && std::all_of(components, components + n - 1, [&](std::uint32_t one) {
             return std::binary_search(own, own + size_of(last), one);
           });
  }
  [[nodiscard]] std::uint64_t slot_of(const std::uint32_t* components, std::uint32_t n) const {
    std::uint64_t hash = n;
    for (std::uint32_t i = 0; i < n; ++i) hash = mix(hash ^ components[i]);
    std::uint64_t slot = hash & (slots_.size() - 1);
    while (slots_[slot] != 0 && !is_list(slots_[slot] - 1, components, n)) slot = (slot + 1) & (slots_.size() - 1);
    return slot;
  }
  [[nodiscard]] bool is_list(std::uint32_t vertex, const std::uint32_t* components, std::uint32_t n) const {
    return size_of(vertex) == n && std::equal(components, components + n, begin_of(vertex));
  }
  std::uint32_t add(const std::uint32_t* components, std::uint32_t n) {
    for (std::uint32_t i = 0; i < n; ++i) graph_->successors.push_back(components[i]);
    graph_->first.push_back(static_cast<std::uint32_t>(graph_->successors.size()));
    return graph_->vertices++;
  }

  factorized_graph* graph_;
  array<std::uint32_t> slots_;  // vertex + 1; 0: free
};

/// Sources go to the place of their vertex.
void place_sources(memory_resource& resource, factorized_graph& graph, const array<std::uint32_t>& vertex_of,
                   const std::vector<const word*>& sources) {
  graph.source_first = array<std::uint32_t>(resource, graph.vertices + 2ULL);
  std::uint32_t* const begin = graph.source_first.data() + 1;  // moves to the end of each vertex
  for (const std::uint32_t vertex : vertex_of) ++begin[vertex + 1ULL];
  for (std::uint32_t vertex = 0; vertex < graph.vertices; ++vertex) begin[vertex + 1ULL] += begin[vertex];
  for (std::size_t c = 0; c < sources.size(); ++c)
    graph.sources.emplace_back(resource, vertex_of.size(), backend::fresh_memory::anything);
  for (std::uint64_t source = 0; source < vertex_of.size(); ++source) {
    const std::uint32_t place = begin[vertex_of[source]]++;
    for (std::size_t c = 0; c < sources.size(); ++c) graph.sources[c][place] = sources[c][source];
  }
}

void find_lowest(memory_resource& resource, factorized_graph& graph) {
  graph.lowest = array<std::uint32_t>(resource, graph.vertices, backend::fresh_memory::anything);
  for (std::uint32_t vertex = 0; vertex < graph.vertices; ++vertex) {
    const bool reaches_itself = vertex < graph.components && graph.is_cyclic[vertex] != 0;
    std::uint32_t lowest = reaches_itself ? vertex : UINT32_MAX;
    for (std::uint32_t i = graph.first[vertex]; i < graph.first[vertex + 1ULL]; ++i)
      lowest = std::min({lowest, graph.successors[i], graph.lowest[graph.successors[i]]});
    graph.lowest[vertex] = lowest;
  }
}

}  // namespace

std::uint64_t factorized_graph::bytes() const {
  std::uint64_t sum = is_cyclic.bytes() + first.bytes() + successors.bytes() + lowest.bytes() + source_first.bytes();
  for (const auto& column : sources) sum += column.bytes();
  return sum;
}

double factorized_graph::row_words() const {
  double rows = 0;
  for (std::uint32_t vertex = 0; vertex < vertices; ++vertex) {
    if (lowest[vertex] == UINT32_MAX) continue;
    const std::uint32_t last = std::min(vertex, components - 1) / strip_components();
    const std::uint32_t strips_met = last - lowest[vertex] / strip_components() + 1;
    rows += static_cast<double>(strips_met) * (first[vertex + 1ULL] - first[vertex] + 1);
  }
  return rows * strip_words;
}

factorized_graph factorize(memory_resource& resource, condensation& condensed, const list_view& starts,
                           const std::vector<const word*>& sources, std::uint64_t source_count) {
  factorized_graph graph;
  graph.components = graph.vertices = condensed.components;
  graph.is_cyclic = std::move(condensed.is_cyclic);
  graph.first = std::move(condensed.first);
  graph.successors = std::move(condensed.successors);
  array<std::uint32_t> vertex_of(resource, source_count, backend::fresh_memory::anything);
  {
    vertex_lists lists(resource, graph, source_count);
    std::vector<std::uint32_t> components;
    for (std::uint64_t source = 0; source < source_count; ++source) {
      components.clear();
      for (std::uint32_t i = starts.first[source]; i < starts.first[source + 1]; ++i)
        components.push_back(condensed.component[starts.all[i]]);
      std::sort(components.begin(), components.end());
      components.erase(std::unique(components.begin(), components.end()), components.end());
      vertex_of[source] = lists.vertex_of(components.data(), static_cast<std::uint32_t>(components.size()));
    }
  }
  place_sources(resource, graph, vertex_of, sources);
  find_lowest(resource, graph);
  return graph;
}

}  // namespace gpulog::storage
