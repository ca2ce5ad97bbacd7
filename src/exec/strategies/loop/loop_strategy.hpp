#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "exec/calibration.hpp"
#include "exec/fixpoint/iteration_runner.hpp"
#include "exec/fixpoint/order_costs.hpp"
#include "exec/fixpoint/supplementary_costs.hpp"
#include "exec/ranks/divided_phase.hpp"
#include "exec/strategies/strategy.hpp"
#include "exec/strategies/version_strategies.hpp"

/// Semi-naive evaluation as a loop over iterations; the machine may run small iterations in its loop kernel.
namespace gpulog::exec {

/// Returns the indexes that versions read. For a machine with a loop kernel, includes the indexes of void versions.
template <class Machine>
std::set<std::uint32_t> indexes_of_versions(const std::vector<running_version>& versions) {
  std::set<std::uint32_t> indexes;
  for (const running_version& version : versions) {
    if (version.runs_elsewhere || (version.is_void && !Machine::abilities.loops)) continue;
    indexes.merge(indexes_read({*version.planned}, Machine::makes_other_searches));
  }
  return indexes;
}

/// Refreshes indexes on demand, when a version searches them.
template <class Machine>
class late_indexes final : public kernels::index_refresher {
 public:
  explicit late_indexes(stratum_run<Machine>& run) : run_(&run) {}
  ~late_indexes() override {
    for (auto& versions : run_->phases)
      for (running_version& version : versions) version.pipeline.indexes = nullptr;
  }
  /// Refreshes the indexes of a phase when its versions search them.
  void serve(std::size_t phase) {
    if constexpr (Machine::abilities.late_indexes) {
      for (running_version& version : run_->phases[phase]) version.pipeline.indexes = this;
    }
  }
  void refresh(kernels::relation_number relation, std::size_t index) override {
    run_->shared.refresh_index(relation_id(relation), index, run_->figures);
  }
  /// Returns whether indexes can wait for the first search, which may never happen after few rows.
  [[nodiscard]] bool can_wait(std::uint64_t rows) const {
    return Machine::abilities.late_indexes && !run_->shared.is_published() &&
           static_cast<double>(rows) < run_->shared.chosen.cut.parallel_candidates;
  }

 private:
  stratum_run<Machine>* run_;
};

/// Runs the phase before the loop, whose results are the first delta.
template <class Machine>
strategy_outcome run_once(stratum_run<Machine>& run) {
  plan_relations<Machine>& shared = run.shared;
  divide_from_start(run);
  shared.skip_sets(run.stratum, run.falls_apart());
  if (!run.falls_apart()) shared.choose_sets(run.stratum);
  shared.choose_sets_of_asked(run.stratum);
  late_indexes<Machine> late(run);
  std::uint64_t rows = 0;
  for (const running_version& version : run.phases.front()) {
    if (!version.is_void && !version.runs_elsewhere && !version.planned->is_retired)
      rows += kernels::input_rows(version.pipeline, shared.relations);
  }
  if (shared.chosen.continues && late.can_wait(rows)) {
    late.serve(0);
  } else {
    shared.refresh_indexes(indexes_of_versions<Machine>(run.phases.front()), run.figures);
  }
  supplementary_costs<Machine> supplementary(run);
  supplementary.grant(0);
  divided_phase<Machine> divided(run, run.stratum.once);
  const bool is_changed =
      run_within_budgets(run, supplementary, 0, [&run] { run_phase(run.shared, run.phases[0], run.figures); });
  if (divided.end(is_changed ? phase_end::exchange_and_bind : phase_end::exchange) == phase_end::run_alone) {
    continue_alone(run);
    run.bind_phases(0);
    shared.refresh_indexes(indexes_of_versions<Machine>(run.phases.front()), run.figures);
    supplementary.grant(0);
    run_within_budgets(run, supplementary, 0, [&run] { run_phase(run.shared, run.phases[0], run.figures); });
  }
  run.exchanged.clear();
  for (relation_id relation : run.stratum.relations) shared.settle(relation, run.figures);
  return strategy_outcome::done;
}

template <class Machine>
class stratum_loop {
 public:
  using relation_type = typename Machine::relation;

  explicit stratum_loop(stratum_run<Machine>& run)
      : run_(run), shared_(run.shared), late_indexes_(run), supplementary_(run), orders_(run) {
    const plan::stratum& stratum = run.stratum;
    for (const relation_id id : stratum.relations) {
      const plan::relation& planned = shared_.program.relations[id.value];
      is_limited_ = is_limited_ || planned.size_limit != 0;
      if (!planned.supplementary) counted_.push_back(id);
    }
    for (std::size_t p = 1; p < run.phases.size(); ++p) indexes_.merge(indexes_of_versions<Machine>(run.phases[p]));
    const std::set<std::uint32_t> certain = indexes_read(stratum.subsumptions);
    indexes_.insert(certain.begin(), certain.end());
    shared_.refresh_indexes(run.resumes && late_indexes_.can_wait(delta_rows()) ? certain : indexes_, run.figures);
    find_due_indexes();
    for (std::size_t p = 1; p < run.phases.size(); ++p) late_indexes_.serve(p);
    late_columns_ = shared_.late_columns;
    by_itself_ = make_iteration_runner();
  }
  stratum_loop(const stratum_loop&) = delete;
  stratum_loop& operator=(const stratum_loop&) = delete;

  strategy_outcome run() {
    run_.figures.iterations = first_iteration_ = run_.deltas.size();
    if (shared_.chosen.records_iterations) run_.figures.deltas.begin(storage::seconds_now());
    const strategy_outcome outcome = run_iterations();
    if (shared_.chosen.records_iterations) run_.figures.deltas.end(storage::seconds_now());
    return outcome;
  }

 private:
  /// An index of a relation that has advanced, and the versions that search the index next.
  struct due_index {
    std::uint32_t index = 0;
    bool is_certain = false;          ///< some version may search the index, whatever the present deltas
    std::vector<relation_id> deltas;  ///< of the other versions, which search the index if the delta has rows
  };

  struct searching_version {
    std::size_t phase;
    std::optional<relation_id> delta;
  };

  [[nodiscard]] std::uint64_t delta_rows() const {
    std::uint64_t rows = 0;
    for (const relation_id id : run_.stratum.relations) rows += shared_.relation_of(id).delta_rows();
    return rows;
  }

  [[nodiscard]] bool advances_after(relation_id relation, std::size_t phase) const {
    const std::vector<relation_id>& advanced = run_.stratum.loop[phase].advance;
    return std::find(advanced.begin(), advanced.end(), relation) != advanced.end();
  }

  void find_due_indexes() {
    std::map<std::uint32_t, std::vector<searching_version>> searching;
    for (std::size_t p = 1; p < run_.phases.size(); ++p) {
      for (const running_version& version : run_.phases[p]) {
        if (version.is_void || version.runs_elsewhere || version.planned->is_retired) continue;
        for (const std::uint32_t index : indexes_read({*version.planned}, Machine::makes_other_searches))
          searching[index].push_back({p - 1, version.delta});
      }
    }
    const std::set<std::uint32_t> certain = indexes_read(run_.stratum.subsumptions);
    for (std::size_t p = 0; p < run_.stratum.loop.size(); ++p) {
      auto& due = due_.emplace_back();
      for (const std::uint32_t index : indexes_) {
        if (!advances_after(shared_.places[index].relation, p)) continue;
        due.push_back({index, certain.contains(index), {}});
        for (const searching_version& version : searching[index]) {
          if (is_delta_known(version, p)) {
            due.back().deltas.push_back(*version.delta);
          } else {
            due.back().is_certain = true;
          }
        }
      }
    }
  }

  /// Returns whether the delta of a version that runs next stays as it is after a phase.
  [[nodiscard]] bool is_delta_known(const searching_version& version, std::size_t phase) const {
    const std::size_t phases = run_.stratum.loop.size();
    if (!version.delta) return false;
    for (std::size_t next = (phase + 1) % phases; next != version.phase; next = (next + 1) % phases) {
      if (advances_after(*version.delta, next)) return false;
    }
    return true;
  }

  /// Updates indexes of relations that have advanced. An index may wait for the first search if deltas are small, or if
  /// no version with a delta searches the index next.
  void refresh_advanced(const std::vector<due_index>& due) {
    std::vector<std::uint32_t> indexes;
    if (!Machine::abilities.late_indexes || shared_.is_published()) {
      for (const due_index& one : due) indexes.push_back(one.index);
      return shared_.refresh_indexes(indexes, run_.figures);
    }
    std::uint64_t rows = 0;
    for (const due_index& one : due) rows += shared_.relation_of(shared_.places[one.index].relation).delta_rows();
    if (late_indexes_.can_wait(rows)) return;
    for (const due_index& one : due) {
      const bool is_searched = std::any_of(one.deltas.begin(), one.deltas.end(), [this](relation_id delta) {
        return shared_.relation_of(delta).delta_rows() != 0;
      });
      if (one.is_certain || is_searched) indexes.push_back(one.index);
    }
    shared_.refresh_indexes(indexes, run_.figures);
  }

  strategy_outcome run_iterations() {
    const plan::stratum& stratum = run_.stratum;
    std::size_t phase = std::exchange(run_.next_phase, 0);  // phase with which the iteration continues
    while (phase != 0 || is_told_to_iterate(run_) ||
           (any_delta() && !(is_limited_ && shared_.limit_reached(stratum)))) {
      if (phase == 0 && is_to_stop()) return strategy_outcome::stopped;
      if (phase == 0 && divide_loop(run_)) return strategy_outcome::reordered;
      if (phase == 0 && is_reordered()) return strategy_outcome::reordered;
      if (const auto costly = phase == 0 ? supplementary_.find_costly() : std::nullopt;
          costly && abandon(run_, *costly))
        return strategy_outcome::reordered;
      if (begin_divided_iteration(run_, phase)) return strategy_outcome::reordered;
      if (shared_.late_columns != late_columns_) {
        late_columns_ = shared_.late_columns;
        by_itself_ = make_iteration_runner();
      }
      if (by_itself_ != nullptr) {
        const std::size_t told = run_.deltas.size();
        phase = run_by_itself(phase);
        if (run_.deltas.size() > told) run_.tell_progress();
        if (phase == 0 && !any_delta()) break;
      }
      const strategy_outcome outcome = run_iteration(std::exchange(phase, 0));
      if (outcome != strategy_outcome::left) return outcome;
    }
    shared_.use_priority_delta(stratum, 0);
    run_.subsume([](auto& runner) { runner.finish(); });
    const std::uint64_t result = shared_.sum_of(stratum, [](const relation_type& one) { return one.rows(); });
    run_.figures.tail_iterations = static_cast<std::uint64_t>(std::count_if(
        run_.deltas.begin(), run_.deltas.end(), [result](std::uint64_t delta) { return delta < result / 100; }));
    return strategy_outcome::done;
  }

  [[nodiscard]] bool any_delta() const {
    return std::any_of(run_.stratum.relations.begin(), run_.stratum.relations.end(),
                       [this](relation_id relation) { return shared_.relation_of(relation).delta_rows() != 0; });
  }

  [[nodiscard]] bool is_to_stop() const {
    if (run_.stops == nullptr || !run_.stops->between_iterations) return false;
    // Relations added by the planner have deltas too; counting all is good enough for this decision.
    const std::uint64_t delta_rows =
        run_.deltas.empty() ? shared_.sum_of(run_.stratum, [](const relation_type& one) { return one.delta_rows(); })
                            : run_.deltas.back();
    return run_.stops->between_iterations(run_.deltas.size(), delta_rows);
  }

  /// Returns whether the joins were reordered: tries a new plan after the joins have produced many bindings since the
  /// last attempt.
  [[nodiscard]] bool is_reordered() {
    const bool has_run = run_.deltas.size() > first_iteration_;
    if (run_.stops == nullptr || !run_.stops->reoptimize_loop || !has_run) return false;
    std::uint64_t bindings = 0;
    std::uint64_t versions = 0;
    for (std::size_t p = 1; p < run_.phases.size(); ++p) {
      versions += run_.phases[p].size();
      for (const running_version& version : run_.phases[p]) bindings += version.figures->bindings;
    }
    std::uint64_t least = versions * shared_.chosen.cut.reoptimized_bindings;
    if (least != 0) {
      constexpr double faster = calibration::device_candidates_per_second / calibration::host_candidates_per_second;
      if constexpr (Machine::abilities.device_columns) least *= static_cast<std::uint64_t>(faster);
      least = std::max(least, run_.tried_bindings / calibration::reoptimized_part);
    }
    if (bindings < run_.tried_bindings + least) return false;
    run_.tried_bindings = bindings;
    if (!run_.stops->reoptimize_loop()) return false;
    run_.take_over_plan();
    return true;
  }

  /// Gives a version whose new order is worse its former order back. The other versions of the phase run again as well,
  /// and find no new tuples.
  /// @return whether the plan has changed
  bool put_back_order(std::size_t phase) {
    while (const auto worse = orders_.find_worse()) {
      orders_.end(*worse);
      if (run_.stops->put_back(*worse)) {
        run_.take_over_plan();
        shared_.forget_appended(run_.stratum.loop[phase]);
        return true;
      }
      orders_.keep(*worse);
      shared_.forget_appended(run_.stratum.loop[phase]);
      run_phase(shared_, run_.phases[phase + 1], run_.figures);
    }
    return false;
  }

  /// Runs an iteration from a phase on.
  /// @return left: the iteration is complete; reordered: the plan has changed
  strategy_outcome run_iteration(std::size_t first_phase) {
    const plan::stratum& stratum = run_.stratum;
    run_.iteration = static_cast<word>(run_.figures.iterations + 1);
    for (std::size_t p = first_phase; p < stratum.loop.size(); ++p) {
      supplementary_.grant(p + 1);
      orders_.grant(p + 1);
      divided_phase<Machine> divided(run_, stratum.loop[p]);
      const bool is_changed = run_within_budgets(run_, supplementary_, p + 1,
                                                 [this, p] { run_phase(shared_, run_.phases[p + 1], run_.figures); });
      const bool is_put_back = put_back_order(p);
      const phase_end end = divided.end(is_put_back  ? phase_end::run_again
                                        : is_changed ? phase_end::exchange_and_bind
                                                     : phase_end::exchange);
      if (end == phase_end::run_again) {
        run_.next_phase = p;
        return strategy_outcome::reordered;
      }
      for (relation_id relation : stratum.loop[p].advance) shared_.settle(relation, run_.figures);
      if (p + 1 == stratum.loop.size() && !stratum.subsumptions.empty())
        run_.subsume([](auto& runner) { runner.step(); });
      for (relation_id relation : stratum.loop[p].advance) {
        shared_.relation_of(relation).advance();
        run_.exchanged.erase(relation);
      }
      if (end == phase_end::exchange_and_bind) {  // indexes of new versions are refreshed on binding
        run_.next_phase = p + 1;
        return strategy_outcome::reordered;
      }
      refresh_advanced(due_[p]);
    }
    ++run_.figures.iterations;
    std::uint64_t delta = 0;
    for (const relation_id id : counted_) delta += shared_.relation_of(id).delta_rows();
    run_.deltas.push_back(delta);
    if (shared_.chosen.records_iterations) run_.figures.deltas.add(run_.deltas.back(), storage::seconds_now);
    if (run_monitor* const watch = shared_.watch()) watch->give_way();
    run_.tell_progress();
    return strategy_outcome::left;
  }

  /// Returns a runner that executes iterations in one kernel, or nullptr if the stratum does not allow it.
  [[nodiscard]] std::unique_ptr<iteration_runner> make_iteration_runner() {
    if (run_.division != nullptr) return nullptr;
    if constexpr (Machine::abilities.loops) {
      const plan::stratum& stratum = run_.stratum;
      if (is_limited_ || !stratum.subsumptions.empty()) return nullptr;
      looped_stratum looped;
      for (relation_id id : stratum.relations)
        looped.relations.push_back({id.value, !shared_.program.relations[id.value].supplementary});
      for (std::size_t p = 0; p < stratum.loop.size(); ++p) {
        looped_phase& phase = looped.phases.emplace_back();
        for (const running_version& version : run_.phases[p + 1]) {
          if (!version.planned->is_retired) phase.versions.push_back({&version.pipeline, &version.candidates_per_row});
        }
        for (relation_id id : stratum.loop[p].advance) phase.advanced.push_back(id.value);
      }
      return shared_.machine.make_iteration_runner(std::move(looped), shared_.relations);
    } else {
      return nullptr;
    }
  }

  /// Runs as many iterations as the runner can, starting from a phase.
  /// @return the phase where to continue
  std::size_t run_by_itself(std::size_t phase) {
    for (bool goes_on = true; goes_on;) {
      shared_.check_stop();
      const double start = storage::seconds_now();
      const typename Machine::trace_range traced("iterations");
      const auto& versions = run_.phases[phase + 1];
      looped_iterations done;
      shared_.watched(
          {"extending", run_.stratum.relations.front(), versions.empty() ? nullptr : versions.front().planned},
          [&] { done = by_itself_->run(phase); });
      if (!done.has_run) return phase;
      const double seconds = storage::seconds_now() - start;
      run_.figures.join_seconds += seconds;
      run_.figures.iterations += done.deltas.size();
      run_.figures.looped_iterations += done.deltas.size();
      run_.deltas.insert(run_.deltas.end(), done.deltas.begin(), done.deltas.end());
      if (shared_.chosen.records_iterations) {
        for (const std::uint64_t delta : done.deltas)
          run_.figures.deltas.add_timed(delta, seconds / static_cast<double>(done.deltas.size()));
        run_.figures.deltas.begin(storage::seconds_now());
      }
      take_counts_of_versions(done, seconds);
      for (std::uint32_t index : indexes_) shared_.refresh_index(index, run_.figures);
      phase = done.next_phase;
      goes_on = done.goes_on;
    }
    return phase;
  }

  void take_counts_of_versions(const looped_iterations& done, double seconds) {
    std::size_t next = 0;
    for (std::size_t p = 1; p < run_.phases.size(); ++p) {
      for (running_version& version : run_.phases[p]) {
        if (version.planned->is_retired) continue;
        const looped_iterations::version_counts& counts = done.versions[next++];
        if (done.faulty == &version.pipeline)
          throw evaluation_fault(describe_fault(arithmetic_exception, *version.planned));
        // The versions share the time equally, because the kernel has no separate measurements.
        version.figures->seconds += seconds / static_cast<double>(done.versions.size());
        version.figures->runs += counts.runs;
        version.figures->candidates += counts.candidates;
        version.figures->bindings += counts.candidates;
        version.figures->tuples += counts.fresh;
        if (counts.runs != 0) shared_.last_version[version.planned->head.value] = version.planned;
      }
    }
  }

  stratum_run<Machine>& run_;
  plan_relations<Machine>& shared_;
  late_indexes<Machine> late_indexes_;
  supplementary_costs<Machine> supplementary_;
  order_costs<Machine> orders_;
  bool is_limited_ = false;                  // whether some relation has a size limit
  std::vector<relation_id> counted_;         // relations of the program, whose deltas are reported
  std::set<std::uint32_t> indexes_;          // read by the versions
  std::vector<std::vector<due_index>> due_;  // by phase: indexes of the relations that advance after the phase
  std::unique_ptr<iteration_runner> by_itself_;
  std::uint64_t late_columns_ = 0;   // value when the runner was created
  std::size_t first_iteration_ = 0;  // first iteration of this run
};

template <class Machine>
strategy_outcome run_loop(stratum_run<Machine>& run) {
  if (!run.resumes) run.shared.make_sets(run.stratum);
  if (run.resumes || run.falls_apart()) run.shared.choose_sets(run.stratum);
  strategy_outcome outcome = stratum_loop<Machine>(run).run();
  while (outcome == strategy_outcome::reordered) {
    run.bind_loop_again();
    outcome = stratum_loop<Machine>(run).run();
  }
  return outcome;
}

}  // namespace gpulog::exec
