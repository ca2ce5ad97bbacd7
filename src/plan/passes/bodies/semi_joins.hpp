#pragma once

#include <vector>

#include "plan/rules/normalized_rule.hpp"

namespace gpulog::plan {

/// In `smaller(v) :- p(v), p(w), w > v` the second atom asks only whether such a row exists, but a join would make all
/// pairs of rows. The atom becomes a condition `0 < count : { p(w), w > v }`, which a CPU answers by the order of the
/// rows (ADR 0004). Done for atoms that only comparisons by order of one variable connect with the rest of the rule;
/// not for relations of `members`, the rule's own recursion.
void use_semi_joins(normalized_rule& rule, const std::vector<relation_id>& members);

}  // namespace gpulog::plan
