#pragma once

#include <cmath>
#include <cstddef>
#include <vector>

#include "exec/calibration.hpp"
#include "exec/strategies/strategy.hpp"

namespace gpulog::exec {

/// Returns the expected candidates of all pending versions.
template <class Machine>
[[nodiscard]] double expected_candidates_of(const phase_run<Machine>& phase) {
  double expected = 0;
  for (const running_version& version : phase.versions)
    expected += expected_candidates<Machine>(version, version.rows_left);
  return expected;
}

/// Runs versions that the machine executes together, without waiting in between.
template <class Machine>
void run_batch(phase_run<Machine>& phase) {
  if constexpr (Machine::abilities.batches) {
    plan_relations<Machine>& shared = phase.shared;
    if (phase.versions.empty()) return;
    shared.check_stop(phase.versions.front().planned);
    const double least = shared.machine.least_candidates_together();
    if (std::isinf(least) || expected_candidates_of(phase) < least) return;
    std::vector<phase_version> running;
    std::vector<std::size_t> numbers;
    double expected = 0;
    for (std::size_t v = 0; v < phase.versions.size(); ++v) {
      const std::uint64_t rows = phase.rows_to_run(v);
      if (rows == 0) continue;
      running.push_back(
          {&phase.versions[v].pipeline, rows, expected_candidates<Machine>(phase.versions[v], rows), {}, {}});
      numbers.push_back(v);
      expected += running.back().expected_candidates;
    }
    if (running.empty()) return;
    const double start = storage::seconds_now();
    const plan::rule_version& first = *phase.versions[numbers.front()].planned;
    const typename Machine::trace_range traced("versions of a phase");
    shared.guarded({"extending", first.head, &first},
                   [&] { shared.machine.run_together(running, shared.relations, shared.chosen.stop); },
                   {.is_long = expected > static_cast<double>(calibration::least_watched_rows)});
    const double seconds = storage::seconds_now() - start;
    phase.figures.join_seconds += seconds;
    double measured = 0;
    for (const phase_version& one : running) measured += one.seconds;
    for (std::size_t i = 0; i < running.size(); ++i) {
      const phase_version& one = running[i];
      running_version& version = phase.versions[numbers[i]];
      if (one.state == phase_version::outcome::fault)
        throw evaluation_fault(describe_fault(arithmetic_exception, *version.planned));
      // Without separate measurements, the versions share the time equally.
      version.figures->seconds +=
          seconds * (measured > 0 ? one.seconds / measured : 1 / static_cast<double>(running.size()));
      if (one.state == phase_version::outcome::left) continue;
      phase.finish(numbers[i]);
      version.count(one.counts, one.rows);
      if (one.seconds > 0) version.measure(one.seconds, one.rows);
    }
  }
}

}  // namespace gpulog::exec
