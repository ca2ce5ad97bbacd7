#pragma once

#include "plan/plan.hpp"

namespace gpulog::oracle {

/// Returns the plan with loops instead of decomposed recursions, which have no iterations.
inline plan::program loops_only(plan::program plan) {
  for (plan::stratum& stratum : plan.strata) {
    if (stratum.has_row_steps()) stratum.rows.reset();
  }
  return plan;
}

}  // namespace gpulog::oracle
