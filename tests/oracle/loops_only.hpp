#pragma once

#include "plan/plan.hpp"

namespace gpulog::oracle {

/// The plan with loops in place of recursions that fall apart, which have no iterations.
inline plan::program loops_only(plan::program plan) {
  for (plan::stratum& stratum : plan.strata) stratum.decomposed.reset();
  return plan;
}

}  // namespace gpulog::oracle
