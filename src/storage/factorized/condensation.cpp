#include "storage/factorized/condensation.hpp"

#include <algorithm>
#include <atomic>
#include <bit>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

#include "storage/calibration.hpp"
#include "support/long_vector.hpp"

namespace gpulog::storage {
namespace {

using backend::array;
using backend::fresh_memory;
using backend::memory_resource;
using backend::piece_runner;

/// The edges between components, grouped by component.
struct component_edges {
  array<std::uint32_t> successors;  // stored contiguously
  std::uint64_t size = 0;

  void make_room(std::uint64_t more) {
    if (size + more > successors.size()) successors.resize(std::max(size + more, 2 * successors.size()));
  }
};

/// A set of components as bits; take() lists the components in ascending order and clears the set.
class component_marks {
 public:
  component_marks(memory_resource& resource, std::uint32_t components) : words_(resource, words_of(components)) {}

  [[nodiscard]] static std::uint64_t words_of(std::uint32_t components) { return components / 64 + 1; }

  void set(std::uint32_t component) { words_[component / 64] |= 1ULL << (component % 64); }
  /// Adds a component. Thread-safe.
  void set_together(std::uint32_t component) {
    std::uint64_t& word = words_[component / 64];
    const std::uint64_t bit = 1ULL << (component % 64);
    if ((__atomic_load_n(&word, __ATOMIC_RELAXED) & bit) == 0) __atomic_fetch_or(&word, bit, __ATOMIC_RELAXED);
  }
  [[nodiscard]] std::uint64_t count() const {
    return std::accumulate(words_.begin(), words_.end(), std::uint64_t{0}, [](std::uint64_t sum, std::uint64_t bits) {
      return sum + static_cast<std::uint64_t>(std::popcount(bits));
    });
  }
  /// @return the end of the output
  std::uint32_t* take(std::uint32_t* out) {
    for (std::uint64_t w = 0; w < words_.size(); ++w) {
      for (std::uint64_t bits = std::exchange(words_[w], 0); bits != 0; bits &= bits - 1)
        *out++ = static_cast<std::uint32_t>(w * 64) + static_cast<std::uint32_t>(std::countr_zero(bits));
    }
    return out;
  }

 private:
  array<std::uint64_t> words_;
};

/// The successors of a component with many vertices.
struct large_component {
  std::uint32_t component;
  array<std::uint32_t> successors;
};

/// Lists the successors of each component.
class edge_lister {
 public:
  edge_lister(const piece_runner& workers, memory_resource& resource, const list_view& graph,
              const numbered_components& found, condensation& made)
      : workers_(workers), resource_(resource), graph_(graph), found_(found), made_(made) {}

  void run() {
    made_.is_cyclic = array<std::uint8_t>(resource_, made_.components);
    made_.first = array<std::uint32_t>(resource_, made_.components + 1ULL);
    list_large();
    long_vector<component_edges> parts(workers_.ranges(made_.components));
    workers_.for_each_range(made_.components, [&](std::uint64_t range, std::uint64_t begin, std::uint64_t end) {
      parts[range].successors = array<std::uint32_t>(resource_);
      std::optional<component_marks> marks;
      for (std::uint64_t c = begin; c < end; ++c) {
        list(static_cast<std::uint32_t>(c), parts[range], marks);
        made_.first[c + 1] = static_cast<std::uint32_t>(parts[range].size);
      }
    });
    join(parts);
  }

 private:
  static constexpr std::uint64_t edges_of_vertex = calibration::edges_of_shared_vertex;

  [[nodiscard]] std::uint64_t vertices_of(std::uint32_t component) const {
    return found_.first[component + 1ULL] - found_.first[component];
  }
  /// Returns whether all workers share the component's vertices, because a single worker would take too long.
  [[nodiscard]] bool is_large(std::uint32_t component) const {
    const std::uint64_t edges = edges_of_vertex * vertices_of(component);
    return vertices_of(component) >= calibration::least_shared_vertices && workers_.ranges(edges) > 1 &&
           edges >= component_marks::words_of(made_.components);
  }

  void list_large() {
    if (workers_.workers() == 1) return;
    std::optional<component_marks> marks;
    for (std::uint32_t c = 0; c < made_.components; ++c) {
      if (!is_large(c)) continue;
      if (!marks) marks.emplace(resource_, made_.components);
      std::atomic<bool> is_cyclic{false};
      const std::uint64_t first = found_.first[c];
      workers_.for_each_range(
          edges_of_vertex * vertices_of(c), [&](std::uint64_t, std::uint64_t begin, std::uint64_t end) {
            const bool leads_to_itself = visit(c, first + begin / edges_of_vertex, first + end / edges_of_vertex,
                                               [&](std::uint32_t next) { marks->set_together(next); });
            if (leads_to_itself) is_cyclic.store(true, std::memory_order_relaxed);
          });
      made_.is_cyclic[c] = is_cyclic ? 1 : 0;
      array<std::uint32_t> successors(resource_, marks->count(), fresh_memory::anything);
      marks->take(successors.data());
      large_.push_back({c, std::move(successors)});
    }
  }

  /// Calls action(component), possibly repeatedly, for each different component that the vertices at places [place,
  /// behind) lead to.
  /// @return whether a vertex leads to its own component
  template <class Action>
  bool visit(std::uint32_t own, std::uint64_t place, std::uint64_t behind, const Action& action) const {
    bool leads_to_itself = false;
    for (; place < behind; ++place) {
      fetch(place);
      const std::uint32_t vertex = found_.vertices[place];
      for (std::uint32_t n = graph_.first[vertex]; n < graph_.first[vertex + 1ULL]; ++n) {
        const std::uint32_t next = made_.component[graph_.all[n]];
        if (next == own) {
          leads_to_itself = true;
        } else {
          action(next);
        }
      }
    }
    return leads_to_itself;
  }

  /// Prefetches the data of vertices at later places: their lists and targets have scattered addresses.
  void fetch(std::uint64_t place) const {
    constexpr std::uint64_t distance = 8;
    constexpr std::uint32_t most_edges = 8;
    if (place + 3 * distance >= places()) return;
    __builtin_prefetch(&graph_.first[found_.vertices[place + 3 * distance]]);
    __builtin_prefetch(&graph_.all[graph_.first[found_.vertices[place + 2 * distance]]]);
    const std::uint32_t vertex = found_.vertices[place + distance];
    const std::uint32_t begin = graph_.first[vertex];
    const std::uint32_t end = std::min(graph_.first[vertex + 1ULL], begin + most_edges);
    for (std::uint32_t n = begin; n < end; ++n) __builtin_prefetch(&made_.component[graph_.all[n]]);
  }
  [[nodiscard]] std::uint64_t places() const { return found_.first[made_.components]; }

  void list(std::uint32_t component, component_edges& part, std::optional<component_marks>& marks) {
    if (!large_.empty() && is_large(component)) {
      const array<std::uint32_t>& successors = large_of(component).successors;
      part.make_room(successors.size());
      std::copy_n(successors.data(), successors.size(), part.successors.data() + part.size);
      part.size += successors.size();
      return;
    }
    const std::uint32_t first = found_.first[component];
    const std::uint32_t behind = found_.first[component + 1ULL];
    std::uint64_t edges = 0;
    for (std::uint32_t place = first; place < behind; ++place) {
      const std::uint32_t vertex = found_.vertices[place];
      edges += graph_.first[vertex + 1ULL] - graph_.first[vertex];
    }
    part.make_room(edges);
    std::uint32_t* const own = part.successors.data() + part.size;
    std::uint32_t* end = own;
    bool leads_to_itself = false;
    if (edges > calibration::most_sorted_successors && edges > component_marks::words_of(made_.components) / 4) {
      if (!marks) marks.emplace(resource_, made_.components);
      leads_to_itself = visit(component, first, behind, [&](std::uint32_t next) { marks->set(next); });
      end = marks->take(own);
    } else {
      leads_to_itself = visit(component, first, behind, [&](std::uint32_t next) { *end++ = next; });
      std::sort(own, end);
      end = std::unique(own, end);
    }
    if (leads_to_itself) made_.is_cyclic[component] = 1;
    part.size += static_cast<std::uint64_t>(end - own);
  }

  [[nodiscard]] const large_component& large_of(std::uint32_t component) const {
    return *std::lower_bound(large_.begin(), large_.end(), component,
                             [](const large_component& one, std::uint32_t wanted) { return one.component < wanted; });
  }

  /// Combines the parts; until now `first` is relative to the part.
  void join(long_vector<component_edges>& parts) {
    if (parts.size() == 1) {
      made_.successors = std::move(parts.front().successors);
      made_.successors.resize(parts.front().size);
      return;
    }
    long_vector<std::uint64_t> begins(1);
    for (const component_edges& part : parts) begins.push_back(begins.back() + part.size);
    made_.successors = array<std::uint32_t>(resource_, begins.back(), fresh_memory::anything);
    workers_.for_each_range(made_.components, [&](std::uint64_t range, std::uint64_t begin, std::uint64_t end) {
      component_edges& part = parts[range];
      std::copy_n(part.successors.data(), part.size, made_.successors.data() + begins[range]);
      part.successors.release();
      for (std::uint64_t c = begin; c < end; ++c) made_.first[c + 1] += static_cast<std::uint32_t>(begins[range]);
    });
  }

  const piece_runner& workers_;
  memory_resource& resource_;
  list_view graph_;
  const numbered_components& found_;
  condensation& made_;
  std::vector<large_component> large_;
};

}  // namespace

condensation condense(const piece_runner& workers, memory_resource& resource, const list_view& graph,
                      std::uint64_t vertices, const std::uint32_t* starts, std::uint64_t start_count) {
  numbered_components found = find_components(workers, resource, graph, vertices, starts, start_count);
  condensation made;
  made.components = found.components;
  made.component = std::move(found.component);
  made.lowest = std::move(found.lowest);
  edge_lister(workers, resource, graph, found, made).run();
  return made;
}

}  // namespace gpulog::storage
