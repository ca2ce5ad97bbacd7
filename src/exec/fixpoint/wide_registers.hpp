#pragma once

#include <vector>

#include "kernels/join/pipeline.hpp"
#include "plan/plan.hpp"

/// Registers that a version needs with words of 64 bits.
namespace gpulog::exec {

/// Returns the slots that hold the halves of a 64-bit value until an operator needs its code.
[[nodiscard]] std::vector<slot_id> slots_of_halves(const plan::rule_version& version);

/// Returns the number of codes that searches look up if slots may hold halves.
[[nodiscard]] kernels::register_number keys_of_searches(const plan::rule_version& version);

/// Returns the maximum number of registers that the version needs in addition to its slots.
[[nodiscard]] kernels::register_number registers_for_wide_words(const plan::rule_version& version);

}  // namespace gpulog::exec
