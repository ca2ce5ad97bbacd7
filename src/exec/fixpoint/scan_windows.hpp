#pragma once

#include "kernels/join/pipeline.hpp"
#include "plan/plan.hpp"

/// Scans and searches that read only the rows between the bounds of comparisons (kernels/join/windows.hpp).
namespace gpulog::exec {

/// Returns whether the result of a step is known before the scan or search at the start of the last segment. The step
/// then runs once per binding, and its result can be a bound of a window.
[[nodiscard]] bool can_go_before_expansion(const kernels::step& made, const kernels::pipeline& program);

/// Finds the filters after scans and searches that compare a column with a value known before them, and sets the
/// windows. The filters remain.
void find_windows(kernels::pipeline& made, const plan::program& program);

}  // namespace gpulog::exec
