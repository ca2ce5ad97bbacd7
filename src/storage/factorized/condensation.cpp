#include "storage/factorized/condensation.hpp"

#include <algorithm>
#include <utility>

namespace gpulog::storage {
namespace {

using backend::array;
using backend::memory_resource;

/// Depth-first search that numbers components when it leaves their first vertex.
class component_search {
 public:
  component_search(memory_resource& resource, const list_view& graph, std::uint64_t vertices)
      : graph_(graph), met_(resource, vertices), lowest_(resource, vertices), open_(resource), path_(resource) {
    found_.component = array<std::uint32_t>(resource, vertices, backend::fresh_memory::anything);
    std::fill_n(found_.component.data(), vertices, condensation::none);
  }

  void visit(std::uint32_t start) {
    if (met_[start] != 0) return;
    enter(start);
    while (path_size_ != 0) {
      place& top = path_[path_size_ - 1];
      if (top.next == graph_.first[top.vertex + 1]) {
        leave();
        continue;
      }
      const std::uint32_t next = graph_.all[top.next++];
      if (met_[next] == 0) {
        enter(next);
      } else if (found_.component[next] == condensation::none) {
        lowest_[top.vertex] = std::min(lowest_[top.vertex], met_[next]);
      }
    }
  }

  [[nodiscard]] condensation take() { return std::move(found_); }

 private:
  struct place {
    std::uint32_t vertex;
    std::uint32_t next;  ///< of the lists
  };

  void enter(std::uint32_t vertex) {
    met_[vertex] = lowest_[vertex] = ++time_;
    open_.push_back(vertex);
    if (path_size_ == path_.size()) path_.resize(path_size_ == 0 ? 64 : path_size_ * 2);
    path_[path_size_++] = {vertex, graph_.first[vertex]};
  }

  void leave() {
    const std::uint32_t vertex = path_[--path_size_].vertex;
    if (lowest_[vertex] == met_[vertex]) {
      std::uint64_t left = open_.size();
      do {
        found_.component[open_[--left]] = found_.components;
      } while (open_[left] != vertex);
      open_.resize(left);
      ++found_.components;
    }
    if (path_size_ == 0) return;
    const std::uint32_t before = path_[path_size_ - 1].vertex;
    lowest_[before] = std::min(lowest_[before], lowest_[vertex]);
  }

  list_view graph_;
  condensation found_;
  array<std::uint32_t> met_;     // when a vertex was met; 0: not yet
  array<std::uint32_t> lowest_;  // the first one met that it leads to
  array<std::uint32_t> open_;    // vertices without a component
  array<place> path_;
  std::uint64_t path_size_ = 0;
  std::uint32_t time_ = 0;
};

/// The vertices of each component, side by side. @param first by component, and one behind
array<std::uint32_t> vertices_by_component(memory_resource& resource, const condensation& of,
                                           array<std::uint32_t>& first) {
  first = array<std::uint32_t>(resource, of.components + 2ULL);
  std::uint32_t* const begin = first.data() + 1;  // moves to the end of each component
  for (const std::uint32_t component : of.component) {
    if (component != condensation::none) ++begin[component + 1ULL];
  }
  for (std::uint32_t c = 0; c < of.components; ++c) begin[c + 1ULL] += begin[c];
  array<std::uint32_t> sorted(resource, begin[of.components], backend::fresh_memory::anything);
  for (std::uint32_t vertex = 0; vertex < of.component.size(); ++vertex) {
    const std::uint32_t component = of.component[vertex];
    if (component != condensation::none) sorted[begin[component]++] = vertex;
  }
  return sorted;
}

}  // namespace

condensation condense(memory_resource& resource, const list_view& graph, std::uint64_t vertices,
                      const std::uint32_t* starts, std::uint64_t start_count) {
  component_search search(resource, graph, vertices);
  for (std::uint64_t i = 0; i < start_count; ++i) search.visit(starts[i]);
  condensation condensed = search.take();

  array<std::uint32_t> first;
  const array<std::uint32_t> sorted = vertices_by_component(resource, condensed, first);
  condensed.is_cyclic = array<std::uint8_t>(resource, condensed.components);
  condensed.first = array<std::uint32_t>(resource, condensed.components + 1ULL);
  condensed.successors = array<std::uint32_t>(resource);
  array<std::uint32_t> last_seen(resource, condensed.components);  // component + 1 whose list has it
  for (std::uint32_t c = 0; c < condensed.components; ++c) {
    for (std::uint32_t i = first[c]; i < first[c + 1ULL]; ++i) {
      for (std::uint32_t n = graph.first[sorted[i]]; n < graph.first[sorted[i] + 1ULL]; ++n) {
        const std::uint32_t next = condensed.component[graph.all[n]];
        if (next == c) {
          condensed.is_cyclic[c] = 1;
        } else if (std::exchange(last_seen[next], c + 1) != c + 1) {
          condensed.successors.push_back(next);
        }
      }
    }
    std::sort(condensed.successors.data() + condensed.first[c],
              condensed.successors.data() + condensed.successors.size());
    condensed.first[c + 1ULL] = static_cast<std::uint32_t>(condensed.successors.size());
  }
  return condensed;
}

}  // namespace gpulog::storage
