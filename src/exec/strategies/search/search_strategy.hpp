#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>

#include "exec/fixpoint/matrix_reads.hpp"
#include "exec/strategies/strategy.hpp"
#include "kernels/search/search_task.hpp"

/// Decomposed recursions: one search per value of the invariant columns (docs/internals/decomposition.md).
namespace gpulog::exec {

/// Returns a task with bitmaps over values, and refreshes the indexes.
/// @return nothing if values are tuples or too large
template <class Machine>
std::optional<kernels::decomposed_task> decomposed_task_of(stratum_run<Machine>& run) {
  plan_relations<Machine>& shared = run.shared;
  const plan::decomposition& planned = *run.stratum.decomposed;
  if (!planned.is_binary()) return std::nullopt;
  const relation_id target = planned.members.front().relation;
  std::set<plan::column_place> places = {{target, planned.members.front().nodes.front()}};
  kernels::decomposed_task task;
  task.target = target.value;
  task.invariant = planned.members.front().invariants.front();
  task.moving = planned.members.front().nodes.front();
  for (const plan::decomposed_step& step : planned.steps) {
    if (!step.relation.valid()) return std::nullopt;
    places.insert({step.relation, step.columns.front()});
  }
  task.values = shared.bound_of(places);
  if (task.values > shared.machine.bitmap_values()) return std::nullopt;
  for (const plan::decomposed_step& step : planned.steps) {
    shared.refresh_index(step.index.value, run.figures);
    const plan::index& index = shared.program.indexes[step.index.value];
    const storage::index_layout layout = make_layout(index, shared.chosen.storage);
    const auto level = std::find(index.key_lengths.begin(), index.key_lengths.end(), 1U) - index.key_lengths.begin();
    const auto stored =
        std::find(layout.stored.begin(), layout.stored.end(), step.columns.front()) - layout.stored.begin();
    task.steps.push_back({step.relation.value, shared.places[step.index.value].number, static_cast<std::size_t>(level),
                          static_cast<std::uint32_t>(stored)});
  }
  return task;
}

/// Records the figures of a search, and builds the sets that later strata need.
template <class Machine>
void take_counts(stratum_run<Machine>& run, const kernels::decomposed_counts& counts, double seconds,
                 std::uint64_t first_rows) {
  plan_relations<Machine>& shared = run.shared;
  run.figures.iterations = counts.iterations;
  run.figures.rows_taken_over = counts.taken_over;
  run.figures.search_numbers = counts.numbers;
  run.figures.stages = counts.stages;
  run.tell_progress();
  for (std::size_t phase = 1; phase < run.phases.size(); ++phase) {
    for (running_version& version : run.phases[phase]) version.figures->counted = nullptr;
  }
  version_statistics& figures = *run.phases[1].front().figures;
  figures.seconds += seconds;
  figures.runs += counts.iterations;
  figures.candidates += counts.candidates;
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

/// Runs search(), which returns std::optional<kernels::decomposed_counts>.
template <class Machine, class Search>
strategy_outcome run_search(stratum_run<Machine>& run, const Search& search) {
  const double start = storage::seconds_now();
  const double indexed = run.figures.index_seconds;
  const std::uint64_t first_rows = run.shared.rows_of(run.stratum);
  const plan::rule_version& rule = *run.phases[1].front().planned;
  std::optional<kernels::decomposed_counts> counts;
  run.shared.guarded({"extending", rule.head, &rule}, [&] { counts = search(); });
  const double seconds = storage::seconds_now() - start - (run.figures.index_seconds - indexed);
  run.figures.join_seconds += seconds;
  if (!counts) return strategy_outcome::left;
  take_counts(run, *counts, seconds, first_rows);
  return strategy_outcome::done;
}

/// Returns whether an earlier strategy left a graph of numbers, so that searches need no indexes.
template <class Machine>
bool has_numbers(const stratum_run<Machine>& run) {
  if constexpr (Machine::abilities.condensation) {
    return run.shared.machine.has_numbers();
  } else {
    return false;
  }
}

/// Searches over values, or over numbers assigned to values and tuples.
template <class Machine>
strategy_outcome search_each(stratum_run<Machine>& run) {
  if constexpr (Machine::abilities.searches) {
    if (!run.falls_apart()) return strategy_outcome::left;
    return run_search(run, [&] {
      kernels::search_task task = {numbered_task_of(*run.stratum.decomposed), std::nullopt};
      if (!has_numbers(run)) task.values = decomposed_task_of(run);
      return run.shared.machine.run_search(task, run.shared.relations, run.shared.chosen.stop);
    });
  } else {
    return strategy_outcome::left;
  }
}

}  // namespace gpulog::exec
