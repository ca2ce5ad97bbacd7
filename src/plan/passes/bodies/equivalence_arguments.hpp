#pragma once

#include "plan/rules/normalized_rule.hpp"

namespace gpulog::plan {

class planning;

/// Marks atoms of equivalence relations. Every element of such a relation is its own partner, so that `r(x,x)` asks
/// what `r(x,_)` does, and becomes that.
void mark_equivalences(const planning& shared, normalized_rule& rule);

}  // namespace gpulog::plan
