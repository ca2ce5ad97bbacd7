#pragma once

#include <cstdint>
#include <optional>
#include <set>

#include "exec/calibration.hpp"
#include "exec/strategies/search/search_strategy.hpp"
#include "exec/strategies/strategy.hpp"

/// Decomposed recursions whose searches take over complete rows of earlier searches (docs/internals/row-takeover.md).
namespace gpulog::exec {

/// Returns the exclusive bound of the values if values serve directly as row numbers, or 0.
template <class Machine>
std::uint64_t bound_of_row_values(stratum_run<Machine>& run) {
  plan_relations<Machine>& shared = run.shared;
  const plan::decomposition& planned = *run.stratum.decomposed;
  if (!planned.is_binary()) return 0;
  const plan::decomposed_member& member = planned.members.front();
  std::set<plan::column_place> places = {{member.relation, member.invariants.front()},
                                         {member.relation, member.nodes.front()}};
  std::uint64_t rows = shared.rows_of(run.stratum);
  for (const plan::decomposed_step& step : planned.steps) {
    if (!step.relation.valid()) return 0;
    places.insert({step.relation, step.key.front()});
    places.insert({step.relation, step.columns.front()});
    rows += shared.relation_of(step.relation).rows();
  }
  const std::uint64_t bound = shared.bound_of(places);
  return bound <= calibration::values_of_a_row * rows ? bound : 0;
}

template <class Machine>
strategy_outcome search_with_rows(stratum_run<Machine>& run) {
  if constexpr (Machine::abilities.row_takeover) {
    const plan_relations<Machine>& shared = run.shared;
    const row_takeover_mode mode = shared.chosen.row_takeover;
    if (mode == row_takeover_mode::off || !run.falls_apart()) return strategy_outcome::left;
    if (mode == row_takeover_mode::automatic && shared.rows_of(run.stratum) < calibration::least_takeover_tuples)
      return strategy_outcome::left;
    return run_search(run, [&]() -> std::optional<kernels::decomposed_counts> {
      try {
        return run.shared.machine.run_takeover(numbered_task_of(*run.stratum.decomposed), bound_of_row_values(run),
                                               run.shared.relations);
      } catch (const backend::memory_exceeded&) {
        // Searches without stored rows need less memory, and report the shortage.
        return std::nullopt;
      }
    });
  } else {
    return strategy_outcome::left;
  }
}

}  // namespace gpulog::exec
