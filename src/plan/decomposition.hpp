#pragma once

#include <optional>

#include "plan/plan.hpp"

namespace gpulog::plan {

/// Whether the stratum's loop falls apart into fixpoints, one for each value of a column, and how; nothing when it does
/// not. It does for linear rules R(p,y) :- R(p,z), e(z,y) with any number of relations e, on either side, and for the
/// doubling rule R(x,y) :- R(x,z), R(z,y), which adds to the linear closure of the first tuples nothing else.
[[nodiscard]] std::optional<decomposition> find_decomposition(const program& plan, const stratum& considered);

/// Whether nothing in its declaration keeps a relation from that.
[[nodiscard]] bool may_fall_apart(const relation& own);

}  // namespace gpulog::plan
