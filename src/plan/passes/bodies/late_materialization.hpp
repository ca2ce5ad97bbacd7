#pragma once

#include "plan/cost/join_order.hpp"

namespace gpulog::plan {

/// Moves the construction of records to the first step that uses the record, or to the end if only the head uses the
/// record. Bindings that the steps in between reject then need no record; a record costs a lookup in a table that all
/// threads share. Steps in between may also multiply bindings, but this costs little: neighbouring bindings then have
/// the same fields (kernels::record_memory).
void delay_records(const normalized_rule& rule, std::vector<step>& steps);

}  // namespace gpulog::plan
