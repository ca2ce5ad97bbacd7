#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "exec/hybrid/placement_costs.hpp"
#include "plan/plan.hpp"

namespace gpulog::exec {

/// Returns the number of versions in all phases.
[[nodiscard]] std::size_t versions_in(const std::vector<plan::phase>& loop);

/// Estimates the work of a stratum from the planner's estimates and the current number of rows.
/// @param rows_of returns the rows of a relation
[[nodiscard]] stratum_work expected_work(const plan::stratum& stratum,
                                         const std::function<std::uint64_t(relation_id)>& rows_of);

}  // namespace gpulog::exec
