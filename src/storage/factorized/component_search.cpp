#include "storage/factorized/component_search.hpp"

#include <algorithm>
#include <atomic>
#include <numeric>
#include <utility>
#include <vector>

/// Tarjan 1972, with a stack of its own, as paths may be long. Such a search begins at one start after the other and
/// makes a tree of each: the vertices that no start before it reaches. So trees can be told without it, whatever the
/// order, and workers then search one each.
namespace gpulog::storage {
namespace {

using backend::array;
using backend::fresh_memory;
using backend::memory_resource;
using backend::piece_runner;

/// A stack that keeps its memory.
template <class T>
class stack {
 public:
  explicit stack(memory_resource& resource) : places_(resource) {}
  [[nodiscard]] bool empty() const { return size_ == 0; }
  [[nodiscard]] T& top() { return places_[size_ - 1]; }
  void push(T value) {
    if (size_ == places_.size()) places_.resize(size_ == 0 ? 64 : size_ * 2);
    places_[size_++] = value;
  }
  T pop() { return places_[--size_]; }

 private:
  array<T> places_;
  std::uint64_t size_ = 0;
};

/// What searches of one graph write, each to its own vertices.
struct search_marks {
  search_marks(memory_resource& resource, std::uint64_t vertices)
      : met(resource, vertices),
        lowest(resource, vertices, fresh_memory::anything),
        component(resource, vertices, fresh_memory::anything) {}

  array<std::uint32_t> met;        ///< when a vertex was met; 0: not yet
  array<std::uint32_t> lowest;     ///< the first one met that it leads to
  array<std::uint32_t> component;  ///< no_component until it is left
};

/// Depth-first search that numbers components when it leaves their first vertex.
class component_search {
 public:
  component_search(memory_resource& resource, const list_view& graph, search_marks& marks)
      : graph_(graph),
        met_(marks.met.data()),
        lowest_(marks.lowest.data()),
        component_(marks.component.data()),
        open_(resource),
        path_(resource) {}

  /// Vertices that `belongs` tells, from one of them on. @return how many components, with numbers from `first` on
  template <class Belongs>
  std::uint32_t visit(std::uint32_t start, std::uint32_t first, const Belongs& belongs) {
    next_component_ = first;
    enter(start);
    while (!path_.empty()) {
      place& top = path_.top();
      if (top.next == graph_.first[top.vertex + 1ULL]) {
        leave();
        continue;
      }
      const std::uint32_t next = graph_.all[top.next++];
      if (!belongs(next)) continue;
      if (met_[next] == 0) {
        enter(next);
      } else if (component_[next] == no_component) {
        lowest_[top.vertex] = std::min(lowest_[top.vertex], met_[next]);
      }
    }
    return next_component_ - first;
  }

 private:
  struct place {
    std::uint32_t vertex;
    std::uint32_t next;  ///< of the lists
  };

  void enter(std::uint32_t vertex) {
    met_[vertex] = lowest_[vertex] = ++time_;
    open_.push(vertex);
    path_.push({vertex, graph_.first[vertex]});
  }

  void leave() {
    const std::uint32_t vertex = path_.pop().vertex;
    if (lowest_[vertex] == met_[vertex]) {
      std::uint32_t left = 0;
      do {
        left = open_.pop();
        component_[left] = next_component_;
      } while (left != vertex);
      ++next_component_;
    }
    if (path_.empty()) return;
    const std::uint32_t before = path_.top().vertex;
    lowest_[before] = std::min(lowest_[before], lowest_[vertex]);
  }

  list_view graph_;
  std::uint32_t* met_;
  std::uint32_t* lowest_;
  std::uint32_t* component_;
  stack<std::uint32_t> open_;  // vertices without a component
  stack<place> path_;
  std::uint32_t time_ = 0;
  std::uint32_t next_component_ = 0;
};

void clear_components(const piece_runner& workers, search_marks& marks) {
  workers.for_each_range(marks.component.size(), [&](std::uint64_t, std::uint64_t begin, std::uint64_t end) {
    std::fill(marks.component.data() + begin, marks.component.data() + end, no_component);
  });
}

/// The first start, by its place, that reaches each vertex; UINT32_MAX: none does. A worker that comes to a vertex
/// takes it over from later starts, and goes on there.
class first_starts {
 public:
  first_starts(memory_resource& resource, const list_view& graph, std::uint64_t vertices, const std::uint32_t* starts,
               std::uint64_t start_count)
      : resource_(resource),
        graph_(graph),
        starts_(starts),
        start_count_(start_count),
        first_(resource, vertices, fresh_memory::anything) {}

  void find(const piece_runner& workers) {
    workers.for_each_range(first_.size(), [&](std::uint64_t, std::uint64_t begin, std::uint64_t end) {
      std::fill(first_.data() + begin, first_.data() + end, UINT32_MAX);
    });
    std::atomic<std::uint64_t> next{0};
    workers.run(workers.workers(), [&](std::uint64_t) {
      stack<std::uint32_t> waiting(resource_);
      for (;;) {
        const std::uint64_t begin = next.fetch_add(taken_together, std::memory_order_relaxed);
        if (begin >= start_count_) return;
        const std::uint64_t end = std::min(begin + taken_together, start_count_);
        for (std::uint64_t place = begin; place < end; ++place) follow(static_cast<std::uint32_t>(place), waiting);
      }
    });
  }

  [[nodiscard]] std::uint32_t operator[](std::uint32_t vertex) const { return first_[vertex]; }
  [[nodiscard]] bool makes_tree(std::uint64_t place) const { return first_[starts_[place]] == place; }

 private:
  static constexpr std::uint64_t taken_together = 16;

  void follow(std::uint32_t place, stack<std::uint32_t>& waiting) {
    if (!take(starts_[place], place)) return;
    waiting.push(starts_[place]);
    while (!waiting.empty()) {
      const std::uint32_t vertex = waiting.pop();
      // An earlier start has come by: it reaches all that follows.
      if (__atomic_load_n(&first_[vertex], __ATOMIC_RELAXED) < place) continue;
      for (std::uint32_t i = graph_.first[vertex]; i < graph_.first[vertex + 1ULL]; ++i) {
        if (take(graph_.all[i], place)) waiting.push(graph_.all[i]);
      }
    }
  }
  [[nodiscard]] bool take(std::uint32_t vertex, std::uint32_t place) {
    std::uint32_t known = __atomic_load_n(&first_[vertex], __ATOMIC_RELAXED);
    while (place < known) {
      if (__atomic_compare_exchange_n(&first_[vertex], &known, place, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
        return true;
    }
    return false;
  }

  memory_resource& resource_;
  list_view graph_;
  const std::uint32_t* starts_;
  std::uint64_t start_count_;
  array<std::uint32_t> first_;
};

numbered_components search_alone(memory_resource& resource, const list_view& graph, std::uint64_t vertices,
                                 const std::uint32_t* starts, std::uint64_t start_count) {
  search_marks marks(resource, vertices);
  clear_components({}, marks);
  component_search search(resource, graph, marks);
  std::uint32_t components = 0;
  for (std::uint64_t place = 0; place < start_count; ++place) {
    if (marks.met[starts[place]] == 0)
      components += search.visit(starts[place], components, [](std::uint32_t) { return true; });
  }
  return {components, std::move(marks.component)};
}

numbered_components search_trees(const piece_runner& workers, memory_resource& resource, const list_view& graph,
                                 std::uint64_t vertices, const std::uint32_t* starts, std::uint64_t start_count) {
  first_starts trees(resource, graph, vertices, starts, start_count);
  trees.find(workers);
  search_marks marks(resource, vertices);
  clear_components(workers, marks);
  // Of trees, by the place of their start: how many components, then how many are in front.
  array<std::uint32_t> sizes(resource, start_count, fresh_memory::anything);
  constexpr std::uint64_t taken_together = 16;
  std::atomic<std::uint64_t> next{0};
  workers.run(workers.workers(), [&](std::uint64_t) {
    component_search search(resource, graph, marks);
    for (;;) {
      const std::uint64_t begin = next.fetch_add(taken_together, std::memory_order_relaxed);
      if (begin >= start_count) return;
      for (std::uint64_t place = begin; place < std::min(begin + taken_together, start_count); ++place) {
        sizes[place] = trees.makes_tree(place)
                           ? search.visit(starts[place], 0, [&](std::uint32_t vertex) { return trees[vertex] == place; })
                           : 0;
      }
    }
  });
  std::vector<std::uint32_t> in_front(workers.ranges(start_count) + 1);
  workers.for_each_range(start_count, [&](std::uint64_t range, std::uint64_t begin, std::uint64_t end) {
    in_front[range + 1] = std::accumulate(sizes.data() + begin, sizes.data() + end, std::uint32_t{0});
  });
  std::partial_sum(in_front.begin(), in_front.end(), in_front.begin());
  workers.for_each_range(start_count, [&](std::uint64_t range, std::uint64_t begin, std::uint64_t end) {
    std::uint32_t sum = in_front[range];
    for (std::uint64_t place = begin; place < end; ++place) sum += std::exchange(sizes[place], sum);
  });
  workers.for_each_range(vertices, [&](std::uint64_t, std::uint64_t begin, std::uint64_t end) {
    for (auto vertex = static_cast<std::uint32_t>(begin); vertex < end; ++vertex) {
      if (trees[vertex] != UINT32_MAX) marks.component[vertex] += sizes[trees[vertex]];
    }
  });
  return {in_front.back(), std::move(marks.component)};
}

}  // namespace

numbered_components find_components(const piece_runner& workers, memory_resource& resource, const list_view& graph,
                                    std::uint64_t vertices, const std::uint32_t* starts, std::uint64_t start_count) {
  const bool is_alone = workers.ranges(vertices) == 1 || start_count >= UINT32_MAX;
  if (is_alone) return search_alone(resource, graph, vertices, starts, start_count);
  return search_trees(workers, resource, graph, vertices, starts, start_count);
}

}  // namespace gpulog::storage
