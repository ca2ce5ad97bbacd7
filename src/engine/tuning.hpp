#pragma once

#include "exec/executor.hpp"
#include "gpulog/options.hpp"
#include "plan/planner.hpp"
#include "support/tuning_modes.hpp"

/// The settings in `run_options::tuning`, in parsed form.
namespace gpulog::detail {

struct tuning {
  plan::options planning;    ///< with the modes of passes
  tuning_modes run;          ///< modes of the other optimizations
  double buffer_factor = 8;  ///< a growing merge buffer reserves full + this factor times delta; 0: exact
  exec::join_mode joins = exec::join_mode::materialized;
};

/// @throws input_error for an unknown name or an invalid value
[[nodiscard]] tuning tuning_of(const run_options& options);

}  // namespace gpulog::detail
