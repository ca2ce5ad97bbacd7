#pragma once

#include "exec/strategies/loop/loop_strategy.hpp"
#include "exec/strategies/rows/rows_strategy.hpp"
#include "exec/strategies/strategy.hpp"

/// All strategies for strata, in the order of preference. The last strategy of each list is always applicable.
/// Strategies for versions are in version_strategies.hpp.
namespace gpulog::exec {

/// For the part before the loop, or for a stratum without a loop.
template <class Machine>
inline constexpr stratum_strategy<Machine> once_strategies[] = {
    {"rows", solve_rows_once<Machine>},
    {"versions", run_once<Machine>},
};

/// For the loop.
template <class Machine>
inline constexpr stratum_strategy<Machine> loop_strategies[] = {
    {"rows", solve_rows<Machine>},
    {.name = "loop", .run = run_loop<Machine>, .resumes = true},
};

}  // namespace gpulog::exec
