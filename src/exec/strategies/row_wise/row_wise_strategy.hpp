#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "exec/fixpoint/matrix_reads.hpp"
#include "exec/strategies/strategy.hpp"
#include "kernels/calibration.hpp"
#include "kernels/row_wise/row_wise_task.hpp"

/// Row-wise evaluation: all results for one value of the head's first column at a time
/// (docs/internals/row-wise-evaluation.md).
namespace gpulog::exec {

/// Returns whether a source reads a matrix, which has no columns (exec/fixpoint/matrix_reads.hpp).
template <class Machine>
bool reads_matrix(const plan_relations<Machine>& shared, const plan::row_source& source) {
  if constexpr (Machine::abilities.row_matrices) {
    return shared.relation_of(source.from.relation).matrix() != nullptr ||
           (source.to && shared.relation_of(source.to->relation).matrix() != nullptr);
  } else {
    return false;
  }
}

/// Whether filters may compare values by order.
template <class Machine>
bool orders_row_values(const plan_relations<Machine>& shared) {
  return shared.chosen.wide == nullptr || Machine::abilities.orders_rows;
}

/// Evaluates a stratum without a loop.
template <class Machine>
strategy_outcome evaluate_row_wise(stratum_run<Machine>& run) {
  if constexpr (Machine::abilities.row_wise) {
    plan_relations<Machine>& shared = run.shared;
    const plan::stratum& stratum = run.stratum;
    if (shared.is_published() || !stratum.row_wise) return strategy_outcome::left;
    if (!compare_words(stratum.row_wise->filters, orders_row_values(shared))) return strategy_outcome::left;
    for (const plan::row_source& source : stratum.row_wise->sources) {
      if (reads_matrix(shared, source)) return strategy_outcome::left;
    }
    const relation_id target = stratum.relations.front();
    if (shared.relation_of(target).rows() != 0) return strategy_outcome::left;
    const bool always = shared.chosen.row_wise == row_wise_mode::always;
    // A relation that derives each tuple once has no set that row-wise evaluation could save.
    if (!always && !shared.program.relations[target.value].needs_set) return strategy_outcome::left;
    kernels::row_wise_task task = row_wise_task_of(stratum, shared.chosen.wide);
    task.forced = always;
    task.needs_set = shared.uses.set_needed[target.value] != run.number;
    task.may_keep_words = matrix_reads<Machine>(shared).reads_words_only(target, run.number);
    const double start = storage::seconds_now();
    std::optional<kernels::row_counts> counts;
    try {
      shared.watched({"extending", target, run.phases.front().front().planned}, [&] {
        counts = shared.machine.run_row_wise(task, shared.relations, Machine::row_wise_pays, shared.chosen.stop);
      });
    } catch (const backend::memory_exceeded&) {
      // Pipelines need different memory, and report the shortage.
    }
    const double seconds = storage::seconds_now() - start;
    run.figures.join_seconds += seconds;
    if (!counts) return strategy_outcome::left;
    std::vector<running_version>& versions = run.phases.front();
    for (std::size_t v = 0; v < versions.size(); ++v) {
      version_statistics& version_figures = *versions[v].figures;
      version_figures.counted = nullptr;
      version_figures.seconds += seconds / static_cast<double>(versions.size());
      version_figures.candidates += counts->candidates[v];
      if (counts->candidates[v] != 0) ++version_figures.runs;
    }
    // Attributes all results to the first rule, because no count per rule exists.
    versions.front().figures->tuples += shared.relation_of(target).rows();
    if (task.needs_set && !matrix_reads<Machine>(shared).defer_set(target)) {
      const double begin = storage::seconds_now();
      shared.guarded({"indexing", target, nullptr}, [&] { shared.machine.make_set(shared.relation_of(target)); });
      const double of_set = storage::seconds_now() - begin;
      versions.front().figures->seconds += of_set;
      run.figures.merge_seconds += of_set;
    }
    return strategy_outcome::done;
  } else {
    return strategy_outcome::left;
  }
}

/// Evaluates versions with the same head and comparisons, and inserts the results into the head.
template <class Machine>
void add_rows(phase_run<Machine>& phase, const std::vector<std::size_t>& numbers) {
  plan_relations<Machine>& shared = phase.shared;
  std::vector<const plan::rule_version*> planned;
  for (const std::size_t v : numbers) planned.push_back(phase.versions[v].planned);
  shared.check_stop(planned.front());
  kernels::row_wise_task task = row_wise_task_of(planned, shared.chosen.wide);
  task.forced = shared.chosen.row_wise == row_wise_mode::always;
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    const running_version& version = phase.versions[numbers[i]];
    task.rules[i].last_candidates =
        candidates_by_last_run<Machine>(version, kernels::input_rows(version.pipeline, shared.relations));
  }
  auto& target = *shared.relations[task.target];
  const typename Machine::trace_range traced(planned.front()->text);
  const std::uint64_t rows_before = target.appended_rows();
  const double start = storage::seconds_now();
  std::vector<std::optional<std::uint64_t>> candidates(numbers.size());
  try {
    shared.watched({"extending", planned.front()->head, planned.front()},
                   [&] { candidates = shared.machine.add_rows(task, shared.relations, shared.chosen.stop); });
  } catch (const backend::memory_exceeded&) {
    // Pipelines need different memory, and report the shortage.
    shared.machine.forget_rows();
  }
  const double seconds = storage::seconds_now() - start;
  phase.figures.join_seconds += seconds;
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

/// Evaluates versions of a phase row by row and adds the results to their heads (plan::row_wise_version).
template <class Machine>
void add_versions_row_wise(phase_run<Machine>& phase) {
  if constexpr (Machine::abilities.row_wise) {
    const plan_relations<Machine>& shared = phase.shared;
    if (shared.is_published()) return;
    const bool always = shared.chosen.row_wise == row_wise_mode::always;
    const auto can_be_made = [&](const plan::rule_version& planned) {
      return planned.row_wise && compare_words(planned.row_wise->filters, orders_row_values(shared)) &&
             !reads_matrix(shared, planned.row_wise->source) &&
             (always || shared.program.relations[planned.head.value].needs_set);
    };
    std::vector<std::size_t> open;
    double candidates = 0;
    for (std::size_t v = 0; v < phase.versions.size(); ++v) {
      const running_version& version = phase.versions[v];
      if (version.rows_left == 0 || !version.planned->row_wise) continue;
      // Rows can't be counted while they are computed, so the relation has to be worth its cost already.
      if (version.pipeline.budget != nullptr && !version.pipeline.budget->is_extended) continue;
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
        return planned.head == first.head && planned.row_wise->filters == first.row_wise->filters;
      });
      add_rows(phase, {open.begin(), others});
      open.erase(open.begin(), others);
    }
  }
}

}  // namespace gpulog::exec
