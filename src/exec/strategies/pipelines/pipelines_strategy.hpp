#pragma once

#include <algorithm>
#include <cstddef>
#include <utility>

#include "exec/calibration.hpp"
#include "exec/fixpoint/matrix_reads.hpp"
#include "exec/strategies/strategy.hpp"

/// Runs each version separately as a pipeline, which is always possible.
namespace gpulog::exec {

/// Returns whether the version can run again after an incomplete run.
template <class Relation>
[[nodiscard]] bool can_run_again([[maybe_unused]] const Relation& target,
                                 [[maybe_unused]] const kernels::pipeline& version) {
  if constexpr (requires { target.inserts_at_once(); }) {
    return target.inserts_at_once() && !version.observes_order() && version.counted == nullptr;
  } else {
    return false;
  }
}

/// Of a run with so many candidates. On a device, launches take longer than reading the clock.
template <class Machine>
[[nodiscard]] bool is_short(double candidates) {
  return Machine::abilities.timed_candidates &&
         candidates <= static_cast<double>(calibration::candidates_of_short_step);
}

template <class Machine>
pipeline_counts run_pipeline(plan_relations<Machine>& shared, running_version& version, std::uint64_t rows,
                             double expected) {
  const std::atomic<bool>* const stop = shared.chosen.stop;
  if constexpr (Machine::abilities.keeps_runs) {
    return shared.machine.run(version.pipeline, shared.relations, rows, expected, stop, version.kept);
  } else {
    return shared.machine.run(version.pipeline, shared.relations, rows, expected, stop);
  }
}

template <class Machine>
void run_pipelines(phase_run<Machine>& phase) {
  plan_relations<Machine>& shared = phase.shared;
  run_monitor* const watch = shared.watch();
  for (std::size_t v = 0; v < phase.versions.size(); ++v) {
    running_version& version = phase.versions[v];
    shared.check_stop(version.planned);
    const std::uint64_t rows = phase.rows_to_run(v);
    if (rows == 0) continue;
    auto& target = *shared.relations[version.pipeline.target];
    const std::uint64_t appended = target.appended_rows();
    const typename Machine::trace_range traced(version.planned->text);
    const storage::phase_times before = target.times();
    pipeline_counts counts;
    const double expected = expected_candidates<Machine>(version, rows);
    const stratum_statistics& figures = phase.figures;
    const double others = figures.index_seconds + figures.materialize_seconds;
    version.timer.begin(shared.clock, is_short<Machine>(expected));
    const bool is_long = watch != nullptr && (version.figures->runs == 0 ||
                                              expected > static_cast<double>(calibration::least_watched_rows));
    version.pipeline.progress = is_long ? watch->progress() : nullptr;
    matrix_reads<Machine> reads(shared);
    bool is_costly = false;
    const auto run = [&] {
      try {
        counts = run_pipeline(shared, version, rows, expected);
      } catch (const kernels::costly_reading&) {
        is_costly = true;
      } catch (const kernels::over_budget&) {  // the loop continues without the relation (supplementary_costs.hpp)
      }
    };
    try {
      const plan::rule_version& planned = *version.planned;
      do {
        if constexpr (requires { target.forget_appended(appended); }) {
          if (std::exchange(is_costly, false)) target.forget_appended(appended);
        }
        if (shared.is_searching) reads.limit_lookups(planned, can_run_again(target, version.pipeline), phase.figures);
        shared.guarded({"extending", planned.head, &planned}, run, {rows, is_long});
      } while (is_costly);
    } catch (const kernels::arithmetic_fault&) {
      throw evaluation_fault(describe_fault(arithmetic_exception, *version.planned));
    } catch (const kernels::rule_fault& fault) {
      throw evaluation_fault(describe_fault(fault.what(), *version.planned));
    }
    phase.finish(v);
    version.count(counts, rows);
    const auto made = static_cast<double>(std::max(counts.candidates, counts.bindings));
    // Indexes and columns that the version needed first have their own times.
    const bool is_estimated = version.timer.is_estimated(is_short<Machine>(made)) && !shared.is_published();
    const double elapsed = version.timer.end(shared.clock, is_short<Machine>(made));
    if (is_estimated) {
      version.figures->seconds += elapsed;
      phase.figures.join_seconds += elapsed;
      continue;
    }
    const double seconds = std::max(0.0, elapsed - (figures.index_seconds + figures.materialize_seconds - others));
    version.figures->seconds += seconds;
    version.measure(counts.worker_seconds > 0 ? counts.worker_seconds : seconds, rows);
    // When candidates filled their buffer, the join was interrupted to deduplicate them; subtract that time.
    const storage::phase_times& after = target.times();
    phase.figures.join_seconds +=
        seconds - (after.populate_delta - before.populate_delta) - (after.merge - before.merge);
    shared.add_phases(target, before, phase.figures);
  }
}

}  // namespace gpulog::exec
