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
/// The reduction is correct if the relation of the other atom is complete: the rule still reads that atom, so rows of
/// pts without a partner derive nothing. The reduction applies if an atom of the recursion without common variables
/// with the complete atom would search the reduced atom, if at most calibration::largest_demanded_share of the values
/// are expected to have a partner, and if the two atoms do not become a supplementary relation of their join
/// (supplementary.hpp). If the estimate is wrong, the loop abandons `pts@1` like other supplementary relations, and
/// continues with the rule as written. The reduction does not apply with a device, which sorts an index faster than it
/// runs one more kernel per iteration. In mode `always`, every correct reduction applies.
void reduce_by_semi_joins(planning& shared, stratum_rules& stratum);

}  // namespace gpulog::plan
