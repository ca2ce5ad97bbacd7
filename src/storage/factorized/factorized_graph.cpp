#include "storage/factorized/factorized_graph.hpp"

#include <algorithm>
#include <bit>
#include <numeric>
#include <utility>
#include <vector>

#include "storage/factorized/counting_sort.hpp"
#include "storage/sets/hash.hpp"

namespace gpulog::storage {
namespace {

using backend::array;
using backend::memory_resource;
using backend::piece_runner;

/// Finds, and makes, the vertex that leads to a list of components.
class vertex_lists {
 public:
  vertex_lists(const piece_runner& workers, memory_resource& resource, factorized_graph& graph, std::uint64_t sources)
      : graph_(&graph), slots_(resource, std::bit_ceil((graph.components + sources) * 2 + 1)) {
    workers.for_each_range(graph.components, [&](std::uint64_t, std::uint64_t begin, std::uint64_t end) {
      for (auto component = static_cast<std::uint32_t>(begin); component < end; ++component) {
        if (graph_->is_cyclic[component] == 0) place(component);
      }
    });
  }

  /// Of components that are there. Any number of threads at a time. @param components ascending, each once
  [[nodiscard]] std::uint32_t find(const std::uint32_t* components, std::uint32_t n) const {
    const bool is_one = n != 0 && leads_to_others(components, n);
    if (is_one) return components[n - 1];
    const std::uint32_t found = slots_[slot_of(components, n)];
    return found == 0 ? none : found - 1;
  }
  [[nodiscard]] std::uint32_t find_or_add(const std::uint32_t* components, std::uint32_t n) {
    const std::uint32_t found = find(components, n);
    if (found != none) return found;
    const std::uint32_t made = add(components, n);
    slots_[slot_of(components, n)] = made + 1;
    return made;
  }

  static constexpr std::uint32_t none = UINT32_MAX;

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
  [[nodiscard]] std::uint64_t first_slot(const std::uint32_t* components, std::uint32_t n) const {
    std::uint64_t hash = n;
    for (std::uint32_t i = 0; i < n; ++i) hash = mix(hash ^ components[i]);
    return hash & (slots_.size() - 1);
  }
  [[nodiscard]] std::uint64_t slot_of(const std::uint32_t* components, std::uint32_t n) const {
    std::uint64_t slot = first_slot(components, n);
    while (slots_[slot] != 0 && !is_list(slots_[slot] - 1, components, n)) slot = (slot + 1) & (slots_.size() - 1);
    return slot;
  }
  /// Beside others that do so. Of components with the same list one stands for all.
  void place(std::uint32_t component) {
    const std::uint32_t* const list = begin_of(component);
    const std::uint32_t n = size_of(component);
    for (std::uint64_t slot = first_slot(list, n);; slot = (slot + 1) & (slots_.size() - 1)) {
      std::uint32_t held = __atomic_load_n(&slots_[slot], __ATOMIC_RELAXED);
      const bool is_own = held == 0 && __atomic_compare_exchange_n(&slots_[slot], &held, component + 1, false,
                                                                   __ATOMIC_RELAXED, __ATOMIC_RELAXED);
      if (is_own || is_list(held - 1, list, n)) return;
    }
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

/// Sources at no vertex that is there, with the components that each begins at, side by side.
struct sources_left {
  std::vector<std::uint32_t> sources;
  std::vector<std::uint32_t> sizes;
  std::vector<std::uint32_t> components;
};

/// The vertex of each source.
array<std::uint32_t> find_vertices(const piece_runner& workers, memory_resource& resource, factorized_graph& graph,
                                   const condensation& condensed, const list_view& starts, std::uint64_t sources) {
  array<std::uint32_t> vertex_of(resource, sources, backend::fresh_memory::anything);
  vertex_lists lists(workers, resource, graph, sources);
  std::vector<sources_left> left(workers.ranges(sources));
  workers.for_each_range(sources, [&](std::uint64_t range, std::uint64_t begin, std::uint64_t end) {
    std::vector<std::uint32_t> components;
    for (std::uint64_t source = begin; source < end; ++source) {
      components.clear();
      for (std::uint32_t i = starts.first[source]; i < starts.first[source + 1]; ++i)
        components.push_back(condensed.component[starts.all[i]]);
      std::sort(components.begin(), components.end());
      components.erase(std::unique(components.begin(), components.end()), components.end());
      const auto n = static_cast<std::uint32_t>(components.size());
      vertex_of[source] = lists.find(components.data(), n);
      if (vertex_of[source] != vertex_lists::none) continue;
      left[range].sources.push_back(static_cast<std::uint32_t>(source));
      left[range].sizes.push_back(n);
      left[range].components.insert(left[range].components.end(), components.begin(), components.end());
    }
  });
  for (const sources_left& some : left) {
    const std::uint32_t* components = some.components.data();
    for (std::size_t i = 0; i < some.sources.size(); components += some.sizes[i], ++i)
      vertex_of[some.sources[i]] = lists.find_or_add(components, some.sizes[i]);
  }
  return vertex_of;
}

/// Sources go to the place of their vertex.
void place_sources(const piece_runner& workers, memory_resource& resource, factorized_graph& graph,
                   const array<std::uint32_t>& vertex_of, const std::vector<const word*>& sources) {
  for (std::size_t c = 0; c < sources.size(); ++c)
    graph.sources.emplace_back(resource, vertex_of.size(), backend::fresh_memory::anything);
  graph.source_first = counting_sort(
      workers, resource, static_cast<std::uint32_t>(vertex_of.size()), graph.vertices,
      [&](std::uint32_t source) { return vertex_of[source]; }, [](std::uint64_t) {},
      [&](std::uint32_t source, std::uint32_t place) {
        for (std::size_t c = 0; c < sources.size(); ++c) graph.sources[c][place] = sources[c][source];
      });
}

/// Of vertices, from those of components on: a component of a cycle reaches itself, a vertex behind the components what
/// its successors reach.
void find_lowest(const piece_runner& workers, factorized_graph& graph) {
  graph.lowest.resize(graph.vertices);
  workers.for_each_range(graph.components, [&](std::uint64_t, std::uint64_t begin, std::uint64_t end) {
    for (auto component = static_cast<std::uint32_t>(begin); component < end; ++component) {
      if (graph.is_cyclic[component] != 0) graph.lowest[component] = std::min(graph.lowest[component], component);
    }
  });
  workers.for_each_range(graph.vertices - graph.components, [&](std::uint64_t, std::uint64_t begin, std::uint64_t end) {
    for (std::uint64_t vertex = graph.components + begin; vertex < graph.components + end; ++vertex) {
      std::uint32_t lowest = UINT32_MAX;
      for (std::uint32_t i = graph.first[vertex]; i < graph.first[vertex + 1]; ++i)
        lowest = std::min({lowest, graph.successors[i], graph.lowest[graph.successors[i]]});
      graph.lowest[vertex] = lowest;
    }
  });
}

}  // namespace

std::uint64_t factorized_graph::bytes() const {
  std::uint64_t sum = is_cyclic.bytes() + first.bytes() + successors.bytes() + lowest.bytes() + source_first.bytes();
  for (const auto& column : sources) sum += column.bytes();
  return sum;
}

double factorized_graph::row_words(const piece_runner& workers) const {
  std::vector<std::uint64_t> rows(workers.ranges(vertices));
  const auto width = static_cast<std::uint32_t>(std::countr_zero(strip_components()));  // a power of two
  workers.for_each_range(vertices, [&](std::uint64_t range, std::uint64_t begin, std::uint64_t end) {
    std::uint64_t own = 0;
    for (std::uint64_t vertex = begin; vertex < end; ++vertex) {
      if (lowest[vertex] == UINT32_MAX) continue;
      const std::uint64_t last = std::min<std::uint64_t>(vertex, components - 1) >> width;
      const std::uint64_t strips_met = last - (lowest[vertex] >> width) + 1;
      own += strips_met * (first[vertex + 1ULL] - first[vertex] + 1);
    }
    rows[range] = own;
  });
  const std::uint64_t all = std::accumulate(rows.begin(), rows.end(), std::uint64_t{0});
  return static_cast<double>(all) * strip_words;
}

factorized_graph factorize(const piece_runner& workers, memory_resource& resource, condensation& condensed,
                           const list_view& starts, const std::vector<const word*>& sources,
                           std::uint64_t source_count) {
  factorized_graph made;
  made.components = made.vertices = condensed.components;
  made.is_cyclic = std::move(condensed.is_cyclic);
  made.first = std::move(condensed.first);
  made.successors = std::move(condensed.successors);
  made.lowest = std::move(condensed.lowest);
  const array<std::uint32_t> vertex_of = find_vertices(workers, resource, made, condensed, starts, source_count);
  place_sources(workers, resource, made, vertex_of, sources);
  find_lowest(workers, made);
  return made;
}

}  // namespace gpulog::storage
