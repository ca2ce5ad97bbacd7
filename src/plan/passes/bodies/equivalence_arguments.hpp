#pragma once

#include "plan/rules/normalized_rule.hpp"

namespace gpulog::plan {

class planning;

/// Marks atoms of equivalence relations. Every element is related to itself, so `r(x,x)` holds exactly if `r(x,_)`
/// does, and is replaced by `r(x,_)`.
void mark_equivalences(const planning& shared, normalized_rule& rule);

}  // namespace gpulog::plan
