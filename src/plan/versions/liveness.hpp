#pragma once

#include <vector>

#include "plan/plan.hpp"

namespace gpulog::plan {

/// Returns whether the operators after `op` run with other bindings than the operators before.
[[nodiscard]] bool is_loop(const operation& op);

/// Returns the slots that `op` reads.
[[nodiscard]] std::vector<slot_id> slots_read(const operation& op);

/// Returns the slots that `op` writes.
[[nodiscard]] std::vector<slot_id> slots_written(const operation& op);

}  // namespace gpulog::plan
