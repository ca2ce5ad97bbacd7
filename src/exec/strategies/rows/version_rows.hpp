#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "exec/strategies/rows/row_schedules.hpp"
#include "kernels/calibration.hpp"

/// Versions of a phase row by row: all results for one value of the head's first column at a time.
namespace gpulog::exec {

/// Evaluates versions with the same head and comparisons, and inserts the results into the head.
template <class Machine>
void add_rows(phase_run<Machine>& phase, const std::vector<std::size_t>& numbers) {
  plan_relations<Machine>& shared = phase.shared;
  std::vector<const plan::rule_version*> planned;
  for (const std::size_t v : numbers) planned.push_back(phase.versions[v].planned);
  shared.check_stop(planned.front());
  kernels::row_wise_task task = row_wise_task_of(planned, shared.chosen.wide);
  task.forced = shared.chosen.rows == row_mode::always;
  task.budget = phase.versions[numbers.front()].pipeline.budget;
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    const running_version& version = phase.versions[numbers[i]];
    task.last_candidates.push_back(
        candidates_by_last_run<Machine>(version, kernels::input_rows(version.pipeline, shared.relations)));
  }
  auto& target = shared.relation_of(task.relation());
  const typename Machine::trace_range traced(planned.front()->text);
  const std::uint64_t rows_before = target.appended_rows();
  const double start = storage::seconds_now();
  std::vector<std::optional<std::uint64_t>> candidates(numbers.size());
  bool is_over_budget = false;
  try {
    shared.watched({"extending", planned.front()->head, planned.front()},
                   [&] { candidates = shared.machine.add_rows(task, shared.relations, shared.chosen.stop); });
  } catch (const backend::memory_exceeded&) {
    // Pipelines need different memory, and report the shortage.
    shared.machine.forget_rows();
  } catch (const kernels::over_budget&) {
    is_over_budget = true;
  }
  const double seconds = storage::seconds_now() - start;
  phase.figures.join_seconds += seconds;
  if (is_over_budget) {  // the versions run again, or the loop continues without the relation (supplementary_costs.hpp)
    for (const std::size_t v : numbers) {
      phase.finish(v);
      double& candidates_per_row = phase.versions[v].candidates_per_row;
      candidates_per_row = std::max(candidates_per_row, Machine::added_row_wise_pays.least_candidates);
    }
    return;
  }
  // Attributes all results to the first version, because no count per version exists.
  std::uint64_t fresh = target.appended_rows() - rows_before;
  const auto made =
      std::count_if(candidates.begin(), candidates.end(), [](const auto& one) { return one.has_value(); });
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    if (!candidates[i]) continue;
    running_version& version = phase.versions[numbers[i]];
    phase.finish(numbers[i]);
    version.figures->seconds += seconds / static_cast<double>(made);
    ++version.figures->row_wise_runs;
    version.count({*candidates[i], std::exchange(fresh, 0)}, kernels::input_rows(version.pipeline, shared.relations));
  }
}

/// Evaluates versions of a phase row by row and adds the results to their heads (plan::rule_version::rows).
template <class Machine>
void add_versions_row_wise(phase_run<Machine>& phase) {
  if constexpr (Machine::abilities.rows) {
    const plan_relations<Machine>& shared = phase.shared;
    const bool has_rows = std::any_of(phase.versions.begin(), phase.versions.end(), [](const running_version& version) {
      return version.rows_left != 0 && version.planned->rows;
    });
    if (!has_rows || shared.is_published() || shared.share) return;
    const bool always = shared.chosen.rows == row_mode::always;
    const auto can_be_made = [&](const plan::rule_version& planned) {
      return can_run_row_wise(shared, *planned.rows) &&
             (always || shared.program.relations[planned.head.value].needs_set);
    };
    std::vector<std::size_t> open;
    double candidates = 0;
    for (std::size_t v = 0; v < phase.versions.size(); ++v) {
      const running_version& version = phase.versions[v];
      if (version.rows_left == 0 || !version.planned->rows) continue;
      if (!can_be_made(*version.planned)) continue;
      open.push_back(v);
      candidates += candidates_by_last_run<Machine>(version, version.rows_left);
    }
    if (open.empty()) return;
    // Avoids building tasks for many small versions.
    const bool is_small =
        candidates * kernels::calibration::most_growth < Machine::added_row_wise_pays.least_candidates;
    if (is_small && !always) return;
    while (!open.empty()) {
      const plan::rule_version& first = *phase.versions[open.front()].planned;
      const auto others = std::stable_partition(open.begin(), open.end(), [&](std::size_t v) {
        const plan::rule_version& planned = *phase.versions[v].planned;
        return planned.head == first.head && planned.rows->filters == first.rows->filters;
      });
      add_rows(phase, {open.begin(), others});
      open.erase(open.begin(), others);
    }
  }
}

}  // namespace gpulog::exec
