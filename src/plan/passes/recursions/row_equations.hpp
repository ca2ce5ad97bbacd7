#pragma once

#include <span>

#include "plan/plan.hpp"

/// Recognizes row equations (support/row_equations.hpp).
namespace gpulog::plan {

class planning;

/// Returns whether the declaration of a relation permits steps: it has two columns or more and keeps every tuple.
[[nodiscard]] bool may_have_steps(const relation& declared);

/// Finds the equations of strata and versions, unless options::rows excludes them. In the order of preference:
/// - Recursions as steps: linear rules S(p,y) :- R(p,z), e(z,y) between any relations R and S of the stratum, with any
///   number of complete relations e, on either side; p, y and z may be several columns. Also the doubling rule
///   R(x,y) :- R(x,z), R(z,y), which adds no tuples to the linear closure of the first tuples.
/// - Recursions as products r(x,y) :- left(x,u), r(u,v), right(v,y). All rules of the loop extend one binary relation
///   from its delta by a join on one column or on both, and either all rules or no rules require x != y. A rule may use
///   a supplementary relation in between. The rules before the loop are included if they have the form of joins.
/// - Joins, of strata without a loop and of single versions: R(x,y) :- a(x,w), b(w,y), or R(x,y) :- a(x,y), with
///   comparisons of x and y. All rules of a stratum share their comparisons, and at least one rule joins two relations.
void find_row_equations(planning& shared);

/// Finds the joins of versions of a stratum, also while the stratum runs.
void find_row_joins(const planning& shared, const stratum& considered, std::span<rule_version> versions);

}  // namespace gpulog::plan
