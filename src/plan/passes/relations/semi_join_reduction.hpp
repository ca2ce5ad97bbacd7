#pragma once

namespace gpulog::plan {

class planning;
struct stratum_rules;

/// Applies semi-join reduction (Bernstein and Chiu 1981) to growing relations. In
///
///     pts(h,v) :- load(v,b), pts(a,b), array(a,h).
///
/// a new row of array searches the rows of pts with the object a. The search needs an index of all of pts, and few of
/// its matches have a variable b that occurs in load. So `pts@1(a,b) :- pts(a,b), load(_,b)` becomes a supplementary
/// relation, which the rule reads instead of pts. The index and the searches of the rule's versions are then as small
/// as `pts@1`.
///
/// The rule still reads load, so rows of pts without a partner derive nothing. If load grows too, `pts@1` gains rows
/// with each delta of both. The reduction applies if an atom of the recursion without common variables with load would
/// search pts, if load is complete, if at most calibration::largest_demanded_share of the values are expected to have a
/// partner, and if the two atoms do not become a supplementary relation of their join (supplementary.hpp). A rule with
/// `.plan` never has such a join: the reduction applies if the join would be possible, and if a written order searches
/// pts before any variable of load is bound; load may grow, and no estimate is necessary. The loop abandons `pts@1` if
/// the reduction costs more than the reduction saves (exec/fixpoint/supplementary_costs.hpp), and continues with the
/// rule as written. No reduction applies with a device, which sorts an index faster than the device runs one more
/// kernel per iteration. In mode `always`, every correct reduction applies.
void reduce_by_semi_joins(planning& shared, stratum_rules& stratum);

}  // namespace gpulog::plan
