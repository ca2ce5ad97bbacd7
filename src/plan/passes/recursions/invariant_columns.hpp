#pragma once

#include <vector>

#include "plan/passes/relations/supplementary.hpp"
#include "plan/plan.hpp"
#include "plan/rules/normalized_rule.hpp"

namespace gpulog::plan {

class planning;
struct stratum_rules;

/// Prepares a recursive stratum for decomposition (plan/passes/recursions/row_equations.hpp) if its linear rules join
/// more than one edge. In `r(p,y) :- r(p,z), e(z,y,_), y != 3, !gone(z,y)` no literal except r depends on p, so
/// `r@1(z,y) :- e(z,y,_), y != 3, !gone(z,y)` is computed before the recursion and `r(p,y) :- r(p,z), r@1(z,y)`
/// remains. Applies only if all recursive rules reach this form. Bound: each step has at most as many rows as one of
/// its atoms, and is derived by one scan of this atom. Does not apply if few values of p are demanded, because most of
/// the step would be unused, or if the step computes values that may trap, or texts and records, which the original
/// program might never construct.
/// @param rules rules of the stratum; rewritten
/// @param members relations of the stratum; each permits a decomposition
/// @return rules of the new relations, to be evaluated before the stratum; empty: nothing was changed
[[nodiscard]] std::vector<normalized_rule> make_invariant_steps(std::vector<normalized_rule>& rules,
                                                                const std::vector<relation_id>& members,
                                                                const relation_maker& make_relation);

/// Applies make_invariant_steps if the stratum permits a decomposition.
void make_invariant_steps(planning& shared, stratum_rules& stratum);

}  // namespace gpulog::plan
