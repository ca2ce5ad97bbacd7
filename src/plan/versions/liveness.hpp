#pragma once

#include <vector>

#include "plan/plan.hpp"

namespace gpulog::plan {

/// Whether what follows `op` runs on other bindings than what stands before it.
[[nodiscard]] bool is_loop(const operation& op);

/// Slots that `op` reads.
[[nodiscard]] std::vector<slot_id> slots_read(const operation& op);

/// Slots that `op` writes.
[[nodiscard]] std::vector<slot_id> slots_written(const operation& op);

}  // namespace gpulog::plan
