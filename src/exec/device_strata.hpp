#pragma once

#include <string>
#include <vector>

#include "exec/executor.hpp"
#include "plan/plan.hpp"

namespace gpulog::exec {

/// What keeps each stratum of a plan from a CUDA device, by stratum: the first operator without a kernel, with its
/// rule; empty when the device can run it.
[[nodiscard]] std::vector<std::string> why_not_on_device(const plan::program& program);

/// Which strata a device would leave to the host, and why, as text; for --show.
[[nodiscard]] std::string explain_device_strata(const plan::program& program);

}  // namespace gpulog::exec
