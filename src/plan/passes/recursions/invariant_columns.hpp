#pragma once

#include <vector>

#include "plan/passes/relations/supplementary.hpp"
#include "plan/plan.hpp"
#include "plan/rules/normalized_rule.hpp"

namespace gpulog::plan {

class planning;
struct stratum_rules;

/// Makes a recursive stratum fall apart (plan/passes/recursions/decomposition.hpp) whose linear rules ask more than one
/// edge: in `r(p,y) :- r(p,z), e(z,y,_), y != 3, !gone(z,y)` nothing behind r depends on p, so that `r@1(z,y) :-
/// e(z,y,_), y != 3, !gone(z,y)` is complete before the recursion begins, and `r(p,y) :- r(p,z), r@1(z,y)` is left.
/// Done when all recursive rules come to that, and each step has no more rows than one of its atoms. Not where few
/// values of p are asked for: then most of the step would be made for nothing. Nor where it computes what may trap, or
/// texts and records, which nobody may have reached.
/// @param rules of the stratum; rewritten
/// @param members its relations; each may fall apart
/// @return rules of the relations made, to be evaluated before; empty: nothing was changed
[[nodiscard]] std::vector<normalized_rule> make_invariant_steps(std::vector<normalized_rule>& rules,
                                                                const std::vector<relation_id>& members,
                                                                const relation_maker& make_relation);

/// make_invariant_steps, where the whole stratum may fall apart.
void make_invariant_steps(planning& shared, stratum_rules& stratum);

}  // namespace gpulog::plan
