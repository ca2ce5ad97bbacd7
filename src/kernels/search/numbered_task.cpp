#include "kernels/search/numbered_task.hpp"

#include <algorithm>

namespace gpulog::kernels {

std::vector<std::vector<tuple_source>> numbered_task::sources() const {
  std::vector<std::vector<tuple_source>> found(members.size());
  for (std::size_t number = 0; number < members.size(); ++number)
    found[number].push_back({members[number].relation, members[number].nodes, false});
  const auto add = [&found](std::uint32_t member, const tuple_source& source) {
    auto& own = found[member];
    if (std::find(own.begin(), own.end(), source) != own.end()) return false;
    own.push_back(source);
    return true;
  };
  for (const numbered_step& step : steps) {
    if (!step.copies) add(step.to, {step.relation, step.columns, false});
  }
  for (bool changed = true; changed;) {
    changed = false;
    for (const numbered_step& step : steps) {
      if (!step.copies) continue;
      const std::vector<tuple_source> copied = found[step.from];
      for (const tuple_source& source : copied) {
        tuple_source placed{source.relation, {}, true};
        for (const std::uint32_t place : step.columns) placed.columns.push_back(source.columns[place]);
        changed = add(step.to, placed) || changed;
      }
    }
  }
  return found;
}

bool asks_whole_node(const numbered_task& task, const numbered_step& step) {
  const std::size_t arity = task.members[step.from].nodes.size();
  std::vector<bool> asked(arity, false);
  for (const std::uint32_t place : step.from_nodes) asked[place] = true;
  return step.from_nodes.size() == arity && std::find(asked.begin(), asked.end(), false) == asked.end();
}

}  // namespace gpulog::kernels
