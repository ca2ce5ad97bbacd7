#pragma once

#include <vector>

#include "exec/strategies/batch/batch_strategy.hpp"
#include "exec/strategies/pipelines/pipelines_strategy.hpp"
#include "exec/strategies/rows/version_rows.hpp"
#include "exec/strategies/strategy.hpp"

namespace gpulog::exec {

/// For the versions of a phase. The last strategy runs all versions that are still pending.
template <class Machine>
inline constexpr version_strategy<Machine> version_strategies[] = {
    {"rows", add_versions_row_wise<Machine>},
    {"batch", run_batch<Machine>},
    {"pipelines", run_pipelines<Machine>},
};

template <class Machine>
void run_phase(plan_relations<Machine>& shared, std::vector<running_version>& versions, stratum_statistics& figures) {
  phase_run<Machine> phase{shared, versions, figures};
  if (!phase.begin()) return;
  for (const version_strategy<Machine>& one : version_strategies<Machine>) one.run(phase);
}

}  // namespace gpulog::exec
