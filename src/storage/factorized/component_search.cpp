#include "storage/factorized/component_search.hpp"

#include <algorithm>
#include <utility>

namespace gpulog::storage {
namespace {

using backend::array;
using backend::fresh_memory;
using backend::memory_resource;

/// A stack that grows.
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

/// An edge costs one access to what is known of its end, which is the time of the whole search. So one word a vertex
/// says all of it:
/// - 0: it was not met;
/// - open, which is met but without a component yet: UINT32_MAX less its place among the open ones;
/// - else one more than the lowest component that it reaches, its own among them.
/// There are no more vertices than words, so what is open has a larger word than any that is not.
class component_search {
 public:
  component_search(memory_resource& resource, const list_view& graph, std::uint64_t vertices)
      : graph_(graph), known_(resource, vertices), lowest_(resource), open_(resource), path_(resource) {
    found_.component = array<std::uint32_t>(resource, vertices, fresh_memory::anything);
  }

  void visit(std::uint32_t start) {
    if (known_[start] != 0) return;
    enter(start);
    while (path_.size() != 0) {
      place& top = path_.top();
      if (top.next == top.end) {
        leave();
        continue;
      }
      const std::uint32_t next = graph_.all[top.next++];
      const std::uint32_t known = known_[next];
      if (known == 0) {
        enter(next);
      } else if (is_open(known)) {
        top.first_open = std::max(top.first_open, known);
      } else {
        top.lowest = std::min(top.lowest, known);
      }
    }
  }

  [[nodiscard]] numbered_components take() {
    if (left_ != known_.size()) {
      for (std::uint64_t vertex = 0; vertex < known_.size(); ++vertex) {
        if (known_[vertex] == 0) found_.component[vertex] = no_component;
      }
    }
    found_.lowest = std::move(lowest_);
    return std::move(found_);
  }

 private:
  struct place {
    std::uint32_t vertex;
    std::uint32_t next;        ///< of the lists
    std::uint32_t end;         ///< of its list
    std::uint32_t first_open;  ///< the word of the open vertex that was met first, of those that it leads to
    std::uint32_t lowest;      ///< one more than the lowest component that has been found behind it, or no_component
  };

  [[nodiscard]] bool is_open(std::uint32_t known) const { return known > UINT32_MAX - open_.size(); }

  void enter(std::uint32_t vertex) {
    const std::uint32_t own = UINT32_MAX - open_.size();
    known_[vertex] = own;
    open_.push(vertex);
    const std::uint32_t begin = graph_.first[vertex];
    const std::uint32_t end = graph_.first[vertex + 1ULL];
    for (std::uint32_t i = begin; i < end; ++i) {
      __builtin_prefetch(&known_[graph_.all[i]]);
      __builtin_prefetch(&graph_.first[graph_.all[i]]);
    }
    path_.push({vertex, begin, end, own, no_component});
  }

  void leave() {
    const place left = path_.pop();
    std::uint32_t first_open = left.first_open;
    std::uint32_t lowest = left.lowest;
    if (first_open == known_[left.vertex]) {
      const std::uint32_t component = found_.components++;
      lowest_.push_back(lowest == no_component ? no_component : lowest - 1);
      lowest = std::min(lowest, component + 1);
      std::uint32_t vertex = 0;
      do {
        vertex = open_.pop();
        found_.component[vertex] = component;
        known_[vertex] = lowest;
        ++left_;
      } while (vertex != left.vertex);
      first_open = 0;
    }
    if (path_.size() == 0) return;
    place& before = path_.top();
    before.first_open = std::max(before.first_open, first_open);
    before.lowest = std::min(before.lowest, lowest);
  }

  list_view graph_;
  numbered_components found_;
  array<std::uint32_t> known_;   // by vertex
  array<std::uint32_t> lowest_;  // by component
  stack<std::uint32_t> open_;
  stack<place> path_;
  std::uint64_t left_ = 0;  // vertices with a component
};

}  // namespace

numbered_components find_components(memory_resource& resource, const list_view& graph, std::uint64_t vertices,
                                    const std::uint32_t* starts, std::uint64_t start_count) {
  component_search search(resource, graph, vertices);
  for (std::uint64_t i = 0; i < start_count; ++i) search.visit(starts[i]);
  return search.take();
}

}  // namespace gpulog::storage
