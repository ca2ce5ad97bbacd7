#pragma once

#include <string>
#include <vector>

#include "plan/plan.hpp"

namespace gpulog::plan {

/// What is wrong with a plan by the rules that plan.hpp states, one line each; empty for a plan that can be run.
[[nodiscard]] std::vector<std::string> validate(const program& plan);

struct normalized_rule;
struct rule_scope;
struct stratum_rules;

/// The same for rules between two passes: atoms have the arguments of their relations, variables are the rule's own.
[[nodiscard]] std::vector<std::string> validate(const program& plan, const normalized_rule& rule, const rule_scope&);
[[nodiscard]] std::vector<std::string> validate(const program& plan, const stratum_rules& rules);

}  // namespace gpulog::plan
