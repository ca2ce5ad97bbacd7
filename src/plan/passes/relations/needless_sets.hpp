#pragma once

#include "plan/plan.hpp"

namespace gpulog::plan {

/// Takes the tuple set (relation::needs_set) from relations that need none: nothing asks them for membership, and their
/// rows cannot repeat. That is so where one version of one rule makes all of them, outside of recursion, and the head's
/// values tell which rows the body's searches had read: every column of those rows is in the head, or a constant, or
/// follows from values in the head. Relations with facts keep their set, as do those of choice-domains, subsumption and
/// eqrel. Says likewise of relations of recursions whether what they begin with can repeat (relation::begins_distinct).
void drop_needless_sets(program& plan);

/// Another order may test a row that the first one read whole, or read columns of one that it tested: relations of this
/// stratum whose rows can repeat now need their set again.
void check_needless_sets(program& plan, const stratum& reordered);

}  // namespace gpulog::plan
