#pragma once

namespace gpulog::plan {

class planning;
struct stratum_rules;

/// Semi-join reduction (Bernstein and Chiu 1981) of relations that grow. In
///
///     pts(h,v) :- load(v,b), pts(a,b), array(a,h).
///
/// a new row of array asks for the rows of pts with the object a, which takes an index of all of pts; of what it finds,
/// few rows have a variable b that load has. So `pts@1(a,b) :- pts(a,b), load(_,b)` becomes a supplementary relation,
/// which the rule reads in the place of pts: the index, and what its versions go through, is as small as that.
///
/// Right wherever the other atom's relation is complete: the rule still reads it, so rows of pts without a partner
/// there give nothing. Done where an atom of the recursion that has no variable in common with the complete one would
/// search the reduced one, where at most calibration::largest_demanded_share of its values are expected to have a
/// partner, and where the two atoms do not become a supplementary relation of their join anyway (supplementary.hpp).
/// Not where there is a device, which sorts an index in less time than one more kernel takes in each iteration.
void reduce_by_semi_joins(planning& shared, stratum_rules& stratum);

}  // namespace gpulog::plan
