#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "exec/fixpoint/supplementary_costs.hpp"
#include "exec/strategies/rows/row_schedules.hpp"

/// Strata by row equations: the first schedule that applies and pays.
namespace gpulog::exec {

template <class Machine>
inline constexpr row_schedule<Machine> once_schedules[] = {
    {"row-products", multiply_rows_from_start<Machine>},
    {"row-wise-evaluation", join_rows<Machine>},
};

template <class Machine>
inline constexpr row_schedule<Machine> loop_schedules[] = {
    {Machine::reusing_schedule, reuse_rows<Machine>},
    {"search", search_each<Machine>, false},
    {"row-products", multiply_rows<Machine>},
};

/// Records the figures of a schedule, and builds the sets that later strata need.
template <class Machine>
void take_counts(stratum_run<Machine>& run, const kernels::row_counts& counts, double seconds,
                 std::uint64_t first_rows) {
  plan_relations<Machine>& shared = run.shared;
  run.figures.iterations = counts.iterations;
  run.figures.rows_taken_over = counts.taken_over;
  run.figures.search_numbers = counts.numbers;
  run.figures.stages = counts.stages;
  const bool has_loop = run.stratum.recursive;
  if (has_loop) run.tell_progress();
  for (std::size_t phase = has_loop ? 1 : 0; phase < run.phases.size(); ++phase) {
    for (running_version& version : run.phases[phase]) version.figures->counted = nullptr;
  }
  std::vector<running_version>& versions = run.phases[has_loop ? 1 : 0];
  const std::vector<std::uint64_t> candidates = has_loop ? std::vector{counts.candidates} : counts.by_rule;
  for (std::size_t v = 0; v < candidates.size(); ++v) {
    version_statistics& figures = *versions[v].figures;
    figures.seconds += seconds / static_cast<double>(candidates.size());
    figures.runs += has_loop ? counts.iterations : candidates[v] != 0 ? 1 : 0;
    figures.candidates += candidates[v];
  }
  // Attributes all results to the first version, because no count per version exists.
  version_statistics& figures = *versions.front().figures;
  figures.tuples += shared.rows_of(run.stratum) - first_rows;
  const double start = storage::seconds_now();
  for (const relation_id target : run.stratum.relations) {
    if (shared.uses.set_needed[target.value] == run.number) continue;
    if (matrix_reads<Machine>(shared).defer_set(target)) continue;
    shared.guarded({"indexing", target, nullptr}, [&] { shared.machine.make_set(shared.relation_of(target)); });
  }
  const double of_sets = storage::seconds_now() - start;
  figures.seconds += of_sets;
  run.figures.merge_seconds += of_sets;
}

template <class Machine>
bool run_schedule(stratum_run<Machine>& run, const row_schedule<Machine>& one) {
  const double start = storage::seconds_now();
  const double indexed = run.figures.index_seconds;
  const std::uint64_t first_rows = run.shared.rows_of(run.stratum);
  const plan::rule_version& rule = *run.phases[run.stratum.recursive ? 1 : 0].front().planned;
  const fault_context context{"extending", rule.head, &rule};
  std::optional<kernels::row_counts> counts;
  if (one.has_fallback) {
    try {
      run.shared.watched(context, [&] { counts = one.run(run); });
    } catch (const backend::memory_exceeded&) {
      // What runs instead needs other memory, and reports the shortage.
    } catch (const kernels::over_budget&) {
      // The caller runs the schedule again, or the run continues without the relation.
    }
  } else {
    run.shared.guarded(context, [&] { counts = one.run(run); });
  }
  const double seconds = storage::seconds_now() - start - (run.figures.index_seconds - indexed);
  run.figures.join_seconds += seconds;
  if (counts) take_counts(run, *counts, seconds, first_rows);
  return counts.has_value();
}

template <class Machine, std::size_t Count>
strategy_outcome run_first_schedule(stratum_run<Machine>& run, const row_schedule<Machine> (&schedules)[Count]) {
  if (!run.stratum.rows || run.shared.is_published() || run.division != nullptr) return strategy_outcome::left;
  for (const row_schedule<Machine>& one : schedules) {
    if (!run_schedule(run, one)) continue;
    run.schedule = one.name;
    return strategy_outcome::done;
  }
  return strategy_outcome::left;
}

/// Runs the part before the loop, or a stratum without a loop.
template <class Machine>
strategy_outcome solve_rows_once(stratum_run<Machine>& run) {
  if constexpr (Machine::abilities.rows) {
    if (run.shared.share) return strategy_outcome::left;  // schedules read all bindings of the rules
    supplementary_costs<Machine> supplementary(run);
    supplementary.grant(0);
    strategy_outcome outcome = strategy_outcome::left;
    static_cast<void>(
        run_within_budgets(run, supplementary, 0, [&] { outcome = run_first_schedule(run, once_schedules<Machine>); }));
    return outcome;
  } else {
    return strategy_outcome::left;
  }
}

/// Runs the loop.
template <class Machine>
strategy_outcome solve_rows(stratum_run<Machine>& run) {
  if constexpr (Machine::abilities.rows) {
    return run_first_schedule(run, loop_schedules<Machine>);
  } else {
    return strategy_outcome::left;
  }
}

}  // namespace gpulog::exec
