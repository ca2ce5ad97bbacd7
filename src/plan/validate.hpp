#pragma once

#include <string>
#include <vector>

#include "plan/plan.hpp"

namespace gpulog::plan {

/// What is wrong with a plan by the rules that plan.hpp states, one line each; empty for a plan that can be run.
[[nodiscard]] std::vector<std::string> validate(const program& plan);

}  // namespace gpulog::plan
