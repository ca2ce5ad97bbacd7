#pragma once

#include <string>
#include <vector>

#include "plan/plan.hpp"

namespace gpulog::plan {

/// Checks a plan against the invariants in plan.hpp.
/// @return one line per violation; empty for a plan that can run
[[nodiscard]] std::vector<std::string> validate(const program& plan);

struct normalized_rule;
struct rule_scope;
struct stratum_rules;

/// Checks rules between two passes: atoms have the arguments of their relations, and variables belong to the rule.
[[nodiscard]] std::vector<std::string> validate(const program& plan, const normalized_rule& rule, const rule_scope&);
[[nodiscard]] std::vector<std::string> validate(const program& plan, const stratum_rules& rules);

}  // namespace gpulog::plan
