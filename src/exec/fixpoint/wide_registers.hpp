#pragma once

#include <vector>

#include "kernels/join/pipeline.hpp"
#include "plan/plan.hpp"

/// What a version needs where words have 64 bits.
namespace gpulog::exec {

/// Slots that hold the two halves of a value of 64 bits, until something asks for its code.
[[nodiscard]] std::vector<slot_id> slots_of_halves(const plan::rule_version& version);

/// How many codes searches look for, where slots may hold halves.
[[nodiscard]] kernels::register_number keys_of_searches(const plan::rule_version& version);

/// Registers, at most, that it needs beside its slots.
[[nodiscard]] kernels::register_number registers_for_wide_words(const plan::rule_version& version);

}  // namespace gpulog::exec
