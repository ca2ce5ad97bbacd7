#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace gpulog {

/// The children of a node in a tree of any depth. Its destructor recurses a few levels only: below these, it moves
/// nodes up into one list. `children_of(node)`, found by the node's namespace, returns the list of a node or nullptr.
template <class Node>
class child_list : public std::vector<Node> {
 public:
  using std::vector<Node>::vector;
  child_list() = default;
  child_list(std::vector<Node> nodes) : std::vector<Node>(std::move(nodes)) {}  // NOLINT: a list is its nodes
  child_list(const child_list&) = default;
  child_list(child_list&&) noexcept = default;
  child_list& operator=(const child_list&) = default;
  child_list& operator=(child_list&&) noexcept = default;
  ~child_list() {
    if (this->empty()) return;
    thread_local std::uint32_t depth = 0;
    if (depth == deepest_recursion) move_up_descendants();
    ++depth;
    this->clear();
    --depth;
  }

 private:
  static constexpr std::uint32_t deepest_recursion = 100;

  void move_up_descendants() {
    for (std::size_t at = 0; at < this->size(); ++at) {
      child_list* const below = children_of((*this)[at]);
      if (below == nullptr || below->empty()) continue;
      std::vector<Node> moved = std::move(static_cast<std::vector<Node>&>(*below));
      for (Node& node : moved) this->push_back(std::move(node));
    }
  }
};

}  // namespace gpulog
