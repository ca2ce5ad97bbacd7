#include "storage/factorized/component_search.hpp"

#include <algorithm>
#include <utility>

namespace gpulog::storage {
namespace {

using backend::array;
using backend::fresh_memory;
using backend::memory_resource;
using backend::piece_runner;

/// A stack that grows on demand.
template <class T>
class stack {
 public:
  explicit stack(memory_resource& resource) : places_(resource) {}
  [[nodiscard]] std::uint32_t size() const { return size_; }
  [[nodiscard]] T& top() { return places_[size_ - 1]; }
  void push(T value) {
    if (size_ == places_.size()) places_.resize(size_ == 0 ? 64 : std::uint64_t{size_} * 2);
    places_[size_++] = value;
  }
  T pop() { return places_[--size_]; }

 private:
  array<T> places_;
  std::uint32_t size_ = 0;
};

/// A depth-first search for components. Each edge costs one access to the state of its target, which dominates the time
/// of the search. Therefore a single word per vertex encodes the whole state, next to the start of the list that is
/// read next:
/// - 0: not visited;
/// - open, that is, visited but without a component yet: UINT32_MAX minus the position among the open vertices;
/// - otherwise one more than the lowest component reached, including the vertex's own.
///
/// There are at most as many vertices as words, so the words of open vertices are the largest.
class component_search {
 public:
  component_search(const piece_runner& workers, memory_resource& resource, const list_view& graph,
                   std::uint64_t vertices)
      : all_(graph.all),
        known_(resource, vertices + 1, fresh_memory::anything),
        lowest_(resource),
        first_(resource),
        open_(resource),
        path_(resource) {
    workers.for_each_range(vertices + 1, [&](std::uint64_t, std::uint64_t begin, std::uint64_t end) {
      for (std::uint64_t vertex = begin; vertex < end; ++vertex) known_[vertex] = {graph.first[vertex], 0};
    });
    found_.component = array<std::uint32_t>(resource, vertices, fresh_memory::anything);
    found_.vertices = array<std::uint32_t>(resource, vertices, fresh_memory::anything);
  }

  void visit_all(const std::uint32_t* starts, std::uint64_t count) {
    constexpr std::uint64_t distance = 32;
    for (std::uint64_t i = 0; i < count; ++i) {
      if (i + distance < count) __builtin_prefetch(&known_[starts[i + distance]]);
      if (known_[starts[i]].word == 0) visit(starts[i]);
    }
  }

  /// Returns the result of the search.
  /// @param workers share the remaining work
  [[nodiscard]] numbered_components take(const piece_runner& workers) {
    first_.push_back(left_);
    workers.for_each_range(left_, [&](std::uint64_t, std::uint64_t begin, std::uint64_t end) {
      const std::uint32_t* next = std::upper_bound(first_.begin(), first_.end(), begin);
      for (std::uint64_t i = begin; i < end; ++i) {
        while (*next <= i) ++next;
        found_.component[found_.vertices[i]] = static_cast<std::uint32_t>(next - first_.begin()) - 1;
      }
    });
    const std::uint64_t vertices = known_.size() - 1;
    if (left_ != vertices) {
      workers.for_each_range(vertices, [&](std::uint64_t, std::uint64_t begin, std::uint64_t end) {
        for (std::uint64_t vertex = begin; vertex < end; ++vertex) {
          if (known_[vertex].word == 0) found_.component[vertex] = no_component;
        }
      });
    }
    found_.lowest = std::move(lowest_);
    found_.first = std::move(first_);
    return std::move(found_);
  }

 private:
  static constexpr std::uint32_t none = UINT32_MAX;

  struct vertex_state {
    std::uint32_t first;  ///< start of the list; the next vertex's list starts at the end
    std::uint32_t word;
  };
  struct place {
    std::uint32_t vertex;
    std::uint32_t next;        ///< position in the lists
    std::uint32_t end;         ///< end of the list
    std::uint32_t first_open;  ///< word of the first visited open vertex among the targets
    std::uint32_t lowest;      ///< one more than the lowest component found below, or no_component
  };

  void visit(std::uint32_t start) {
    enter(start);
    while (path_.size() != 0) {
      const std::uint32_t next = next_unmet(path_.top());
      if (next == none) {
        leave();
      } else {
        enter(next);
      }
    }
  }

  /// Returns the next unvisited vertex of the list that has edges. Merges the states of visited targets without
  /// branches, which would be unpredictable, and closes vertices without edges immediately.
  [[nodiscard]] std::uint32_t next_unmet(place& top) {
    const std::uint32_t last_closed = UINT32_MAX - open_.size();
    std::uint32_t first_open = top.first_open;
    std::uint32_t lowest = top.lowest;
    std::uint32_t found = none;
    std::uint32_t i = top.next;
    while (i != top.end) {
      const std::uint32_t next = all_[i++];
      std::uint32_t word = known_[next].word;
      if (word == 0) {
        if (known_[next].first != known_[next + 1ULL].first) {
          found = next;
          break;
        }
        word = close(next);
      }
      const bool is_open = word > last_closed;
      first_open = std::max(first_open, is_open ? word : 0);
      lowest = std::min(lowest, is_open ? no_component : word);
    }
    top.next = i;
    top.first_open = first_open;
    top.lowest = lowest;
    return found;
  }

  /// Closes a vertex without edges.
  /// @return its word
  std::uint32_t close(std::uint32_t vertex) {
    lowest_.push_back(no_component);
    first_.push_back(left_);
    found_.vertices[left_++] = vertex;
    return known_[vertex].word = ++found_.components;
  }

  void enter(std::uint32_t vertex) {
    const std::uint32_t own = UINT32_MAX - open_.size();
    known_[vertex].word = own;
    open_.push(vertex);
    const std::uint32_t begin = known_[vertex].first;
    const std::uint32_t end = known_[vertex + 1ULL].first;
    for (std::uint32_t i = begin; i < end; ++i) __builtin_prefetch(&known_[all_[i]]);
    path_.push({vertex, begin, end, own, no_component});
  }

  void leave() {
    const place left = path_.pop();
    std::uint32_t first_open = left.first_open;
    std::uint32_t lowest = left.lowest;
    if (first_open == known_[left.vertex].word) {
      const std::uint32_t component = found_.components++;
      lowest_.push_back(lowest == no_component ? no_component : lowest - 1);
      first_.push_back(left_);
      lowest = std::min(lowest, component + 1);
      std::uint32_t vertex = 0;
      do {
        vertex = open_.pop();
        found_.vertices[left_++] = vertex;
        known_[vertex].word = lowest;
      } while (vertex != left.vertex);
      first_open = 0;
    }
    if (path_.size() == 0) return;
    place& before = path_.top();
    before.first_open = std::max(before.first_open, first_open);
    before.lowest = std::min(before.lowest, lowest);
  }

  const std::uint32_t* all_;
  numbered_components found_;
  array<vertex_state> known_;    // by vertex, with one extra entry
  array<std::uint32_t> lowest_;  // by component
  array<std::uint32_t> first_;   // by component: the first vertex
  stack<std::uint32_t> open_;
  stack<place> path_;
  std::uint32_t left_ = 0;  // number of vertices with a component
};

}  // namespace

numbered_components find_components(const piece_runner& workers, memory_resource& resource, const list_view& graph,
                                    std::uint64_t vertices, const std::uint32_t* starts, std::uint64_t start_count) {
  component_search search(workers, resource, graph, vertices);
  search.visit_all(starts, start_count);
  return search.take(workers);
}

}  // namespace gpulog::storage
