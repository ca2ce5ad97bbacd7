#pragma once

#include <string>

#include "plan/plan.hpp"

namespace gpulog::plan {

/// The plan as readable text, one line an operator: strata, phases, versions with the order chosen and why, indexes,
/// supplementary relations. Numbers behind `~` are estimates of bindings.
[[nodiscard]] std::string explain(const program& plan);

/// The same for one version, without its heading; one line an operator, each ended by a newline.
[[nodiscard]] std::string explain(const program& plan, const rule_version& version);

}  // namespace gpulog::plan
