#pragma once

#include "kernels/join/pipeline.hpp"
#include "plan/plan.hpp"

/// Scans and searches behind other atoms that read only the rows between the bounds of comparisons
/// (kernels/join/windows.hpp).
namespace gpulog::exec {

/// Whether what a step computes is known in front of the scan or search that the last segment begins with, where it is
/// computed once for each binding and can be a bound of a window.
[[nodiscard]] bool can_go_before_expansion(const kernels::step& made, const kernels::pipeline& program);

/// Finds the filters behind scans and searches that compare a column with what is known in front of them, and sets
/// their limits. The filters stay.
void find_windows(kernels::pipeline& made, const plan::program& program);

}  // namespace gpulog::exec
