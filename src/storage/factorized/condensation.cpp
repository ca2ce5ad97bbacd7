#include "storage/factorized/condensation.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "storage/calibration.hpp"
#include "storage/factorized/counting_sort.hpp"

namespace gpulog::storage {
namespace {

using backend::array;
using backend::memory_resource;
using backend::piece_runner;

/// The edges between components, by some of the components.
struct component_edges {
  array<std::uint32_t> successors;  // side by side
  std::uint64_t size = 0;
};

/// Lists what each component leads to.
class edge_lister {
 public:
  edge_lister(const piece_runner& workers, memory_resource& resource, const list_view& graph, condensation& made)
      : workers_(workers), resource_(resource), graph_(graph), made_(made) {}

  void run() {
    array<std::uint32_t> vertices(resource_);
    const array<std::uint32_t> first = counting_sort(
        workers_, resource_, static_cast<std::uint32_t>(made_.component.size()), made_.components,
        [&](std::uint32_t vertex) { return made_.component[vertex]; },
        [&](std::uint64_t all) { vertices = array<std::uint32_t>(resource_, all, backend::fresh_memory::anything); },
        [&](std::uint32_t vertex, std::uint32_t place) { vertices[place] = vertex; });
    made_.is_cyclic = array<std::uint8_t>(resource_, made_.components);
    made_.first = array<std::uint32_t>(resource_, made_.components + 1ULL);
    std::vector<component_edges> parts(workers_.ranges(made_.components));
    workers_.for_each_range(made_.components, [&](std::uint64_t range, std::uint64_t begin, std::uint64_t end) {
      parts[range].successors = array<std::uint32_t>(resource_);
      array<std::uint32_t> last_seen(resource_);  // component + 1 whose list has it
      for (std::uint64_t c = begin; c < end; ++c) {
        const auto own = static_cast<std::uint32_t>(c);
        list(own, vertices.data() + first[c], vertices.data() + first[c + 1], parts[range], last_seen);
        made_.first[c + 1] = static_cast<std::uint32_t>(parts[range].size);
      }
    });
    join(parts);
  }

 private:
  void list(std::uint32_t component, const std::uint32_t* vertex, const std::uint32_t* behind, component_edges& part,
            array<std::uint32_t>& last_seen) {
    std::uint64_t most = 0;
    for (const std::uint32_t* v = vertex; v != behind; ++v) most += graph_.first[*v + 1ULL] - graph_.first[*v];
    if (part.size + most > part.successors.size())
      part.successors.resize(std::max(part.size + most, 2 * part.successors.size()));
    const bool marks = most > calibration::most_sorted_successors;
    if (marks && last_seen.size() == 0) last_seen = array<std::uint32_t>(resource_, made_.components);
    std::uint32_t* const own = part.successors.data() + part.size;
    std::uint32_t* end = own;
    for (; vertex != behind; ++vertex) {
      for (std::uint32_t n = graph_.first[*vertex]; n < graph_.first[*vertex + 1ULL]; ++n) {
        const std::uint32_t next = made_.component[graph_.all[n]];
        if (next == component) {
          made_.is_cyclic[component] = 1;
        } else if (!marks || std::exchange(last_seen[next], component + 1) != component + 1) {
          *end++ = next;
        }
      }
    }
    std::sort(own, end);
    part.size += static_cast<std::uint64_t>(std::unique(own, end) - own);
  }

  /// Beginnings count within their part until now.
  void join(std::vector<component_edges>& parts) {
    std::vector<std::uint64_t> begins = {0};
    for (const component_edges& part : parts) begins.push_back(begins.back() + part.size);
    made_.successors = array<std::uint32_t>(resource_, begins.back(), backend::fresh_memory::anything);
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
  condensation& made_;
};

}  // namespace

condensation condense(const piece_runner& workers, memory_resource& resource, const list_view& graph,
                      std::uint64_t vertices, const std::uint32_t* starts, std::uint64_t start_count) {
  numbered_components found = find_components(resource, graph, vertices, starts, start_count);
  condensation made;
  made.components = found.components;
  made.component = std::move(found.component);
  made.lowest = std::move(found.lowest);
  edge_lister(workers, resource, graph, made).run();
  return made;
}

}  // namespace gpulog::storage
