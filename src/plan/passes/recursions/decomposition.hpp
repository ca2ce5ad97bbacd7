#pragma once

#include <optional>

#include "plan/plan.hpp"

namespace gpulog::plan {

class planning;

/// Whether the stratum's loop falls apart into fixpoints, one for each combination of values of the columns that all
/// its rules pass through, and how; nothing when it does not. It does for linear rules S(p,y) :- R(p,z), e(z,y) between
/// any relations R and S of the stratum, with any number of relations e, on either side; p, y and z may be several
/// columns. And for the doubling rule R(x,y) :- R(x,z), R(z,y), which adds to the linear closure of the first tuples
/// nothing else.
[[nodiscard]] std::optional<decomposition> find_decomposition(const program& plan, const stratum& considered);

/// Whether nothing in its declaration keeps a relation from that.
[[nodiscard]] bool may_fall_apart(const relation& own);

/// find_decomposition, for all strata.
void find_decompositions(planning& shared);

}  // namespace gpulog::plan
