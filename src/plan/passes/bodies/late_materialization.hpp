#pragma once

#include "plan/cost/join_order.hpp"

namespace gpulog::plan {

/// Moves what makes records in front of the first step that uses them, or behind all others if the head alone does:
/// what the steps in between leave out needs no record, and records are looked up in tables that all threads share.
/// That these steps may also multiply bindings costs little, as neighbouring bindings then have the same fields
/// (kernels::record_memory).
void delay_records(const normalized_rule& rule, std::vector<step>& steps);

}  // namespace gpulog::plan
