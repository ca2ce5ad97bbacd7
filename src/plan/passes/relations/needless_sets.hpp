#pragma once

#include "plan/plan.hpp"

namespace gpulog::plan {

/// Removes the tuple set (relation::needs_set) of relations that need no set: no operator tests membership, and rows
/// cannot repeat. Rows cannot repeat if a single version derives the whole relation, outside of recursion, and the head
/// determines the rows that the body's searches read: every column of a read row is in the head, is a constant, or
/// follows from values in the head. Relations with facts, choice-domains or subsumption and eqrel relations keep the
/// set. For relations of recursions, sets relation::begins_distinct if the first rows cannot repeat.
void drop_needless_sets(program& plan);

/// Restores the tuple sets of a reordered stratum where rows can now repeat: the new order may test a row that the
/// previous order read, or read columns of a row that the previous order tested.
void check_needless_sets(program& plan, const stratum& reordered);

}  // namespace gpulog::plan
