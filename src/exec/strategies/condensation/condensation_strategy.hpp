#pragma once

#include <optional>

#include "exec/strategies/search/search_strategy.hpp"
#include "exec/strategies/strategy.hpp"

/// Decomposed recursions over the strongly connected components of their search graph (docs/internals/condensation.md).
namespace gpulog::exec {

template <class Machine>
strategy_outcome condense(stratum_run<Machine>& run) {
  if constexpr (Machine::abilities.condensation) {
    const plan_relations<Machine>& shared = run.shared;
    const condensation_mode mode = shared.chosen.condensation;
    if (mode == condensation_mode::off || !run.falls_apart()) return strategy_outcome::left;
    const bool always = mode == condensation_mode::always;
    if (!always && shared.rows_of(run.stratum) < shared.chosen.cut.condensed_rows) return strategy_outcome::left;
    return run_search(run, [&]() -> std::optional<kernels::decomposed_counts> {
      try {
        return run.shared.machine.run_condensed(numbered_task_of(*run.stratum.decomposed), run.shared.relations, always,
                                                shared.chosen.stop);
      } catch (const backend::memory_exceeded&) {
        // Searches need different memory, and report the shortage.
        return std::nullopt;
      }
    });
  } else {
    return strategy_outcome::left;
  }
}

}  // namespace gpulog::exec
