#pragma once

#include <optional>

#include "plan/plan.hpp"

namespace gpulog::plan {

class planning;

/// Returns the decomposition of the stratum's loop into fixpoints, one for each combination of values of the columns
/// that all its rules pass through; empty if the loop cannot be decomposed. Supports linear rules S(p,y) :- R(p,z),
/// e(z,y) between any relations R and S of the stratum, with any number of relations e, on either side; p, y and z may
/// be several columns. Also supports the doubling rule R(x,y) :- R(x,z), R(z,y), which adds no tuples to the linear
/// closure of the first tuples.
[[nodiscard]] std::optional<decomposition> find_decomposition(const program& plan, const stratum& considered);

/// Returns whether the declaration of a relation permits a decomposition.
[[nodiscard]] bool may_fall_apart(const relation& own);

/// Applies find_decomposition to all strata.
void find_decompositions(planning& shared);

}  // namespace gpulog::plan
