#include "kernels/search/numbered_task.hpp"

#include <algorithm>

namespace gpulog::kernels {

std::vector<std::vector<tuple_source>> target_tuples(const row_equations& task) {
  std::vector<std::vector<tuple_source>> found;
  for (const row_member& member : task.members) found.push_back({{member.relation, member.targets, false}});
  const auto add = [&found](std::uint32_t member, const tuple_source& source) {
    auto& own = found[member];
    if (std::find(own.begin(), own.end(), source) != own.end()) return false;
    own.push_back(source);
    return true;
  };
  for (const row_step& step : task.steps) {
    if (!step.copies()) add(step.to, {step.relation, step.columns, false});
  }
  for (bool changed = true; changed;) {
    changed = false;
    for (const row_step& step : task.steps) {
      if (!step.copies()) continue;
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

bool asks_whole_node(const row_equations& task, const row_step& step) {
  const std::size_t arity = task.members[step.from].targets.size();
  std::vector<bool> asked(arity, false);
  for (const std::uint32_t place : step.from_targets) asked[place] = true;
  return step.from_targets.size() == arity && std::find(asked.begin(), asked.end(), false) == asked.end();
}

}  // namespace gpulog::kernels
