#pragma once

#include <vector>

#include "plan/rules/normalized_rule.hpp"

namespace gpulog::plan {

/// In `smaller(v) :- p(v), p(w), w > v` the second atom asks only whether such a row exists: all pairs of rows would be
/// looked at. It becomes a condition `0 < count : { p(w), w > v }`, which a CPU answers by the order of the rows (ADR
/// 0004). Done for atoms that share no variable with the rest of the rule but through comparisons by order of one of
/// theirs; not for relations of `members`, the rule's own recursion.
void use_semi_joins(normalized_rule& rule, const std::vector<relation_id>& members);

}  // namespace gpulog::plan
