#pragma once

#include "plan/plan.hpp"

namespace gpulog::plan {

class planning;

/// In `r(x) :- a(x,k), a(x,j), j != k` no later operator needs j: the second atom and the comparison only test whether
/// such a row exists. Finds these parts of a version, of one or several atoms (rule_version::first_matches). Finds no
/// part in versions that can observe the number of bindings (counters, functors of libraries), or where a skipped
/// binding could end the program with a fault. Aggregates are unchanged because every binding counts.
void find_first_matches(rule_version& version, word_size words);

/// Applies the pass to all versions of the plan.
void find_first_matches(planning& shared);

}  // namespace gpulog::plan
