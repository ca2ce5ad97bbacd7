#include "storage/factorized/factorized_graph.hpp"

#include <algorithm>
#include <bit>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

#include "storage/calibration.hpp"
#include "storage/factorized/counting_sort.hpp"
#include "storage/sets/hash.hpp"
#include "support/long_vector.hpp"

namespace gpulog::storage {
namespace {

using backend::array;
using backend::memory_resource;
using backend::piece_runner;

/// The successors of the most recently queried component, as bits if the list is long. Used by a single thread.
class long_list {
 public:
  long_list(memory_resource& resource, const factorized_graph& graph) : graph_(&graph), bits_(resource) {}

  /// Returns whether the component leads to all of the given components.
  [[nodiscard]] bool has_all(std::uint32_t component, const std::uint32_t* others, std::uint32_t n) {
    const std::uint32_t* const begin = graph_->successors.data() + graph_->first[component];
    const std::uint32_t* const end = graph_->successors.data() + graph_->first[component + 1ULL];
    if (component != known_) {
      // The bits are built once searches have taken as long as building takes.
      if (component != asked_) steps_ = 0;
      asked_ = component;
      steps_ += std::uint64_t{n} * static_cast<std::uint64_t>(std::bit_width(static_cast<std::uint64_t>(end - begin)));
      if (steps_ <= static_cast<std::uint64_t>(end - begin))
        return std::all_of(others, others + n, [&](std::uint32_t one) { return std::binary_search(begin, end, one); });
      know(component, begin, end);
    }
    return std::all_of(others, others + n, [&](std::uint32_t one) { return (bits_[one / 64] >> (one % 64) & 1) != 0; });
  }

 private:
  void know(std::uint32_t component, const std::uint32_t* begin, const std::uint32_t* end) {
    if (bits_.size() == 0) bits_.resize(graph_->components / 64 + 1);
    if (known_ != none) {
      for (std::uint32_t i = graph_->first[known_]; i < graph_->first[known_ + 1ULL]; ++i)
        bits_[graph_->successors[i] / 64] = 0;
    }
    for (; begin != end; ++begin) bits_[*begin / 64] |= 1ULL << (*begin % 64);
    known_ = component;
  }

  static constexpr std::uint32_t none = UINT32_MAX;

  const factorized_graph* graph_;
  array<std::uint64_t> bits_;
  std::uint32_t known_ = none;
  std::uint32_t asked_ = none;
  std::uint64_t steps_ = 0;
};

/// A hash table of vertices by their lists of successors.
class vertex_lists {
 public:
  /// @param lists maximum number of lists
  vertex_lists(memory_resource& resource, const factorized_graph& graph, std::uint64_t lists)
      : graph_(&graph), slots_(resource, std::bit_ceil(2 * lists + 1)) {}

  /// Returns the slot of the list in an empty table.
  [[nodiscard]] std::uint64_t slot_of(const std::uint32_t* components, std::uint32_t n) const {
    std::uint64_t hash = n;
    for (std::uint32_t i = 0; i < n; ++i) hash = mix(hash ^ components[i]);
    return hash & (slots_.size() - 1);
  }
  void fetch(std::uint64_t slot) const { __builtin_prefetch(&slots_[slot]); }
  void fetch_vertex(std::uint64_t slot) const {
    if (slots_[slot] != 0) __builtin_prefetch(&graph_->first[slots_[slot] - 1]);
  }
  void fetch_list(std::uint64_t slot) const {
    if (slots_[slot] != 0) __builtin_prefetch(&graph_->successors[graph_->first[slots_[slot] - 1]]);
  }

  /// Returns a vertex with the list, or `none`. Thread-safe unless another thread calls place().
  [[nodiscard]] std::uint32_t find(std::uint64_t slot, const std::uint32_t* components, std::uint32_t n) const {
    for (; slots_[slot] != 0; slot = next(slot)) {
      if (is_list(slots_[slot] - 1, components, n)) return slots_[slot] - 1;
    }
    return none;
  }
  /// Inserts a vertex. Thread-safe. Among vertices with equal lists, one represents all.
  void place(std::uint64_t slot, std::uint32_t vertex) {
    const std::uint32_t* const list = graph_->successors.data() + graph_->first[vertex];
    const std::uint32_t n = size_of(vertex);
    for (;; slot = next(slot)) {
      std::uint32_t held = __atomic_load_n(&slots_[slot], __ATOMIC_RELAXED);
      const bool is_own = held == 0 && __atomic_compare_exchange_n(&slots_[slot], &held, vertex + 1, false,
                                                                   __ATOMIC_RELAXED, __ATOMIC_RELAXED);
      if (is_own || is_list(held - 1, list, n)) return;
    }
  }

  static constexpr std::uint32_t none = UINT32_MAX;

 private:
  [[nodiscard]] std::uint32_t size_of(std::uint32_t vertex) const {
    return graph_->first[vertex + 1ULL] - graph_->first[vertex];
  }
  [[nodiscard]] bool is_list(std::uint32_t vertex, const std::uint32_t* components, std::uint32_t n) const {
    return size_of(vertex) == n &&
           std::equal(components, components + n, graph_->successors.data() + graph_->first[vertex]);
  }
  [[nodiscard]] std::uint64_t next(std::uint64_t slot) const { return (slot + 1) & (slots_.size() - 1); }

  const factorized_graph* graph_;
  array<std::uint32_t> slots_;  // vertex + 1; 0: free
};

/// Number of sources looked up together, so that prefetched data has arrived when it is needed.
constexpr std::uint64_t batch = 32;

/// Sources without an existing vertex, with the start components of each source, stored contiguously.
struct sources_left {
  std::vector<std::uint32_t> sources;
  std::vector<std::uint32_t> sizes;
  std::vector<std::uint32_t> components;
};

/// Finds the vertices of sources. The lists of cyclic components contain the component itself: a source that starts in
/// such a component uses the component's vertex.
class source_finder {
 public:
  /// @param lists the lists of the components; nullptr: skip the comparison
  source_finder(memory_resource& resource, const factorized_graph& graph, const condensation& condensed,
                const list_view& starts, const vertex_lists* lists)
      : graph_(&graph), condensed_(&condensed), starts_(starts), lists_(lists), long_list_(resource, graph) {}

  /// Finds vertices for the sources in [begin, end) without a vertex, at most one batch.
  void find(std::uint64_t begin, std::uint64_t end, std::uint32_t* vertex_of, sources_left& left) {
    components_.clear();
    asked_source asked[batch];
    std::uint64_t n = 0;
    for (std::uint64_t source = begin; source < end; ++source) {
      if (vertex_of[source] != vertex_lists::none) continue;
      for (std::uint32_t i = starts_.first[source]; i < starts_.first[source + 1]; ++i)
        __builtin_prefetch(&condensed_->component[starts_.all[i]]);
    }
    for (std::uint64_t source = begin; source < end; ++source) {
      if (vertex_of[source] != vertex_lists::none) continue;
      const std::size_t first = components_.size();
      for (std::uint32_t i = starts_.first[source]; i < starts_.first[source + 1]; ++i)
        components_.push_back(condensed_->component[starts_.all[i]]);
      const auto own = components_.begin() + static_cast<std::ptrdiff_t>(first);
      std::sort(own, components_.end());
      components_.erase(std::unique(own, components_.end()), components_.end());
      const auto size = static_cast<std::uint32_t>(components_.size() - first);
      if (size != 0 && leads_to_others(&components_[first], size)) {
        vertex_of[source] = components_.back();
        continue;
      }
      asked[n++] = {source, first, size, 0};
      if (lists_ == nullptr) continue;
      asked[n - 1].slot = lists_->slot_of(components_.data() + first, size);
      lists_->fetch(asked[n - 1].slot);
    }
    if (lists_ != nullptr) {
      for (std::uint64_t i = 0; i < n; ++i) lists_->fetch_vertex(asked[i].slot);
      for (std::uint64_t i = 0; i < n; ++i) lists_->fetch_list(asked[i].slot);
    }
    for (std::uint64_t i = 0; i < n; ++i) {
      const std::uint32_t* const list = components_.data() + asked[i].first;
      if (lists_ != nullptr) vertex_of[asked[i].source] = lists_->find(asked[i].slot, list, asked[i].size);
      if (vertex_of[asked[i].source] != vertex_lists::none) continue;
      left.sources.push_back(static_cast<std::uint32_t>(asked[i].source));
      left.sizes.push_back(asked[i].size);
      left.components.insert(left.components.end(), list, list + asked[i].size);
    }
  }

 private:
  struct asked_source {
    std::uint64_t source;
    std::size_t first;  ///< index of the first component
    std::uint32_t size;
    std::uint64_t slot;
  };

  /// Returns whether the last component is cyclic and leads to all others: then a source that starts there is
  /// equivalent to a vertex of the component.
  [[nodiscard]] bool leads_to_others(const std::uint32_t* components, std::uint32_t n) {
    const std::uint32_t last = components[n - 1];
    return graph_->is_cyclic[last] != 0 && (n == 1 || long_list_.has_all(last, components, n - 1));
  }

  const factorized_graph* graph_;
  const condensation* condensed_;
  list_view starts_;
  const vertex_lists* lists_;
  long_list long_list_;
  std::vector<std::uint32_t> components_;
};

/// Builds the table of the components' lists. Cyclic components are omitted because they also lead to themselves.
vertex_lists lists_of_components(const piece_runner& workers, memory_resource& resource,
                                 const factorized_graph& graph) {
  vertex_lists lists(resource, graph, graph.components);
  workers.for_each_range(graph.components, [&](std::uint64_t, std::uint64_t begin, std::uint64_t end) {
    std::uint64_t slots[batch];
    for (; begin < end; begin += std::min(batch, end - begin)) {
      const std::uint64_t n = std::min(batch, end - begin);
      for (std::uint64_t i = 0; i < n; ++i) {
        const std::uint32_t first = graph.first[begin + i];
        if (graph.is_cyclic[begin + i] != 0) continue;
        slots[i] = lists.slot_of(graph.successors.data() + first, graph.first[begin + i + 1] - first);
        lists.fetch(slots[i]);
      }
      for (std::uint64_t i = 0; i < n; ++i) {
        if (graph.is_cyclic[begin + i] == 0) lists.place(slots[i], static_cast<std::uint32_t>(begin + i));
      }
    }
  });
  return lists;
}

/// Adds a vertex for each list of components that equals no component's list.
void add_vertices(memory_resource& resource, factorized_graph& graph, const std::vector<sources_left>& left,
                  array<std::uint32_t>& vertex_of) {
  std::uint64_t all = 0;
  for (const sources_left& some : left) all += some.sources.size();
  vertex_lists added(resource, graph, all);
  for (const sources_left& some : left) {
    const std::uint32_t* components = some.components.data();
    for (std::size_t i = 0; i < some.sources.size(); components += some.sizes[i], ++i) {
      const std::uint64_t slot = added.slot_of(components, some.sizes[i]);
      std::uint32_t& vertex = vertex_of[some.sources[i]];
      vertex = added.find(slot, components, some.sizes[i]);
      if (vertex != vertex_lists::none) continue;
      for (std::uint32_t k = 0; k < some.sizes[i]; ++k) graph.successors.push_back(components[k]);
      graph.first.push_back(static_cast<std::uint32_t>(graph.successors.size()));
      vertex = graph.vertices++;
      added.place(slot, vertex);
    }
  }
}

/// Places each source with the same list as the namesake at the namesake's component and all further sources at `none`.
/// @return the number of sources without a vertex
std::uint64_t place_at_namesakes(const piece_runner& workers, const condensation& condensed, const list_view& starts,
                                 const namesakes& known, array<std::uint32_t>& vertex_of) {
  long_vector<std::uint64_t> left(workers.ranges(vertex_of.size()));
  workers.for_each_range(vertex_of.size(), [&](std::uint64_t range, std::uint64_t begin, std::uint64_t end) {
    std::uint64_t own = 0;
    for (std::uint64_t source = begin; source < end; ++source) {
      std::uint32_t found = vertex_lists::none;
      const std::uint32_t vertex = known.vertices == nullptr ? no_component : known.vertices[source];
      if (vertex < condensed.component.size() &&
          std::equal(starts.all + starts.first[source], starts.all + starts.first[source + 1],
                     known.graph.all + known.graph.first[vertex], known.graph.all + known.graph.first[vertex + 1ULL]))
        found = condensed.component[vertex];
      vertex_of[source] = found;
      own += found == vertex_lists::none ? 1 : 0;
    }
    left[range] = own;
  });
  return std::accumulate(left.begin(), left.end(), std::uint64_t{0});
}

/// Returns the vertex of each source.
array<std::uint32_t> find_vertices(const piece_runner& workers, memory_resource& resource, factorized_graph& graph,
                                   const condensation& condensed, const list_view& starts, std::uint64_t sources,
                                   const namesakes& known) {
  array<std::uint32_t> vertex_of(resource, sources, backend::fresh_memory::anything);
  const std::uint64_t without = place_at_namesakes(workers, condensed, starts, known, vertex_of);
  if (without == 0) return vertex_of;
  // Splits the work by starts, as some sources have many.
  const std::uint64_t all = starts.first[sources];
  const auto source_at = [&](std::uint64_t start) {
    return start == all ? sources
                        : static_cast<std::uint64_t>(std::lower_bound(starts.first, starts.first + sources, start) -
                                                     starts.first);
  };
  long_vector<sources_left> left(workers.ranges(all));
  {
    std::optional<vertex_lists> lists;
    if (without * calibration::components_of_looked_up_source >= graph.components)
      lists.emplace(lists_of_components(workers, resource, graph));
    workers.for_each_range(all, [&](std::uint64_t range, std::uint64_t first, std::uint64_t behind) {
      source_finder finder(resource, graph, condensed, starts, lists ? &*lists : nullptr);
      const std::uint64_t end = source_at(behind);
      for (std::uint64_t begin = first == 0 ? 0 : source_at(first); begin < end; begin += std::min(batch, end - begin))
        finder.find(begin, std::min(end, begin + batch), vertex_of.data(), left[range]);
    });
  }
  add_vertices(resource, graph, left, vertex_of);
  return vertex_of;
}

/// Groups the sources by vertex.
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

/// Completes `lowest` from the values of the condensation: cyclic components also reach themselves, and vertices after
/// the components reach the same components as their successors.
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
  long_vector<std::uint64_t> rows(workers.ranges(vertices));
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
                           const list_view& starts, const std::vector<const word*>& sources, std::uint64_t source_count,
                           const namesakes& known) {
  factorized_graph made;
  made.components = made.vertices = condensed.components;
  made.is_cyclic = std::move(condensed.is_cyclic);
  made.first = std::move(condensed.first);
  made.successors = std::move(condensed.successors);
  made.lowest = std::move(condensed.lowest);
  const array<std::uint32_t> vertex_of = find_vertices(workers, resource, made, condensed, starts, source_count, known);
  place_sources(workers, resource, made, vertex_of, sources);
  find_lowest(workers, made);
  return made;
}

}  // namespace gpulog::storage
