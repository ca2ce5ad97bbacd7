#pragma once

#include "plan/plan.hpp"

namespace gpulog::plan {

class planning;

/// In `r(x) :- a(x,k), a(x,j), j != k` nobody needs j: the second atom and the comparison only ask whether there is
/// such a row. Finds these parts of a version, of one atom or of several (rule_version::first_matches). None where the
/// number of bindings can be seen (counters, functors of libraries), or where one that is left out could end the
/// program with a fault. In aggregates each binding counts.
void find_first_matches(rule_version& version, word_size words);

/// Of all versions of the plan.
void find_first_matches(planning& shared);

}  // namespace gpulog::plan
