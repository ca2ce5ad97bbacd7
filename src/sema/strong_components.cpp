#include "sema/strong_components.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>

namespace gpulog::sema {

namespace {

/// Tarjan's algorithm with an explicit stack, because a chain of rules may be as long as the program. A component
/// follows the components that it depends on.
class component_finder {
 public:
  explicit component_finder(const graph& successors)
      : successors_(successors),
        index_(successors.size(), unvisited),
        low_(successors.size(), 0),
        on_stack_(successors.size(), false) {}

  std::vector<std::vector<std::uint32_t>> run() {
    for (std::uint32_t node = 0; node < successors_.size(); ++node) {
      if (index_[node] == unvisited) visit(node);
    }
    return std::move(components_);
  }

 private:
  static constexpr std::uint32_t unvisited = UINT32_MAX;
  struct frame {
    std::uint32_t node;
    std::size_t next_successor;
  };

  void enter(std::uint32_t node) {
    index_[node] = low_[node] = counter_++;
    stack_.push_back(node);
    on_stack_[node] = true;
    frames_.push_back({node, 0});
  }

  void visit(std::uint32_t start) {
    enter(start);
    while (!frames_.empty()) {
      frame& current = frames_.back();
      if (current.next_successor < successors_[current.node].size()) {
        const std::uint32_t successor = successors_[current.node][current.next_successor++];
        if (index_[successor] == unvisited) {
          enter(successor);
        } else if (on_stack_[successor]) {
          low_[current.node] = std::min(low_[current.node], index_[successor]);
        }
        continue;
      }
      leave();
    }
  }

  void leave() {
    const std::uint32_t node = frames_.back().node;
    frames_.pop_back();
    if (!frames_.empty()) low_[frames_.back().node] = std::min(low_[frames_.back().node], low_[node]);
    if (low_[node] != index_[node]) return;
    std::vector<std::uint32_t> component;
    std::uint32_t member = 0;
    do {
      member = stack_.back();
      stack_.pop_back();
      on_stack_[member] = false;
      component.push_back(member);
    } while (member != node);
    std::sort(component.begin(), component.end());
    components_.push_back(std::move(component));
  }

  const graph& successors_;
  std::vector<std::uint32_t> index_, low_;
  std::vector<bool> on_stack_;
  std::vector<std::uint32_t> stack_;
  std::vector<frame> frames_;
  std::vector<std::vector<std::uint32_t>> components_;
  std::uint32_t counter_ = 0;
};

}  // namespace

std::vector<std::vector<std::uint32_t>> strong_components(const graph& successors) {
  return component_finder(successors).run();
}

}  // namespace gpulog::sema
