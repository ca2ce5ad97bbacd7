#pragma once

#include <algorithm>
#include <cstdint>
#include <set>
#include <vector>

#include "plan/rules/normalized_rule.hpp"

namespace gpulog::plan {

/// Numbers of a rule's variables.
using variable_set = std::set<std::uint32_t>;

/// Returns the variables of any part of a rule that append_variables() accepts.
template <class Part>
variable_set variables_of(const Part& part) {
  std::vector<std::uint32_t> variables;
  append_variables(part, variables);
  return {variables.begin(), variables.end()};
}

inline variable_set variables_of(const condition& test) {
  variable_set variables = variables_of(test.left);
  variables.merge(variables_of(test.right));
  return variables;
}

[[nodiscard]] inline bool is_subset(const variable_set& inner, const variable_set& outer) {
  return std::includes(outer.begin(), outer.end(), inner.begin(), inner.end());
}

[[nodiscard]] inline bool intersect(const variable_set& left, const variable_set& right) {
  return std::any_of(left.begin(), left.end(), [&right](std::uint32_t variable) { return right.contains(variable); });
}

}  // namespace gpulog::plan
