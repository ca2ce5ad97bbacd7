#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numeric>
#include <set>
#include <vector>

#include "exec/fixpoint/stratum_run.hpp"
#include "exec/ranks/division.hpp"

/// Divisions in the fixpoint. Without a division, these functions have no effect.
namespace gpulog::exec {

/// Returns whether this rank may begin a stratum at all ranks.
template <class Machine>
[[nodiscard]] bool may_share(const plan_relations<Machine>& shared, const stratum_stops* stops) {
  const bool may_move = stops != nullptr && (stops->between_iterations || stops->now != nullptr);
  return shared.chosen.divider != nullptr && !shared.share && !may_move && !shared.is_published() &&
         !shared.chosen.continues;
}
/// Returns whether this rank may begin a division.
template <class Machine>
[[nodiscard]] bool may_divide(const stratum_run<Machine>& run) {
  return !Machine::abilities.device_columns && may_share(run.shared, run.stops);
}

/// @param divided what the running stratum belongs to; nullptr: this rank evaluates the rest of the stratum alone
template <class Machine>
void set_division(plan_relations<Machine>& shared, division* divided) {
  if (shared.share) shared.chosen.stop = shared.stop_alone;
  shared.share.reset();
  if (divided == nullptr) return;
  shared.stop_alone = shared.chosen.stop;
  shared.chosen.stop = divided->stop(shared.stop_alone);
  shared.share = divided->share();
}

/// At rank 0: evaluates the rest of the stratum alone, after the end of the division.
template <class Machine>
void continue_alone(stratum_run<Machine>& run) {
  run.division = nullptr;
  set_division<Machine>(run.shared, nullptr);
  run.next_division = std::numeric_limits<double>::infinity();
}

/// At rank 0: begins a division at the start of a stratum.
template <class Machine>
void divide_from_start(stratum_run<Machine>& run) {
  plan_relations<Machine>& shared = run.shared;
  if (run.division != nullptr || !may_divide(run)) return;
  run.division = shared.chosen.divider->divide(*run.executor, shared.program, run.number, nullptr);
  if (run.division == nullptr) return;
  set_division(shared, run.division);
  run.bind_phases(0);
}

/// Returns the rows of the iterations so far.
template <class Machine>
[[nodiscard]] std::uint64_t new_rows(const stratum_run<Machine>& run) {
  return std::accumulate(run.deltas.begin(), run.deltas.end(), std::uint64_t{0});
}

/// At rank 0: begins a division of the remaining iterations, once the stratum has taken long.
/// @return whether the versions must be bound again
template <class Machine>
[[nodiscard]] bool divide_loop(stratum_run<Machine>& run) {
  plan_relations<Machine>& shared = run.shared;
  if (run.division != nullptr || !may_divide(run)) return false;
  const double seconds = storage::seconds_now() - run.start;
  if (seconds < run.next_division) return false;
  run.next_division = 2 * seconds;
  // Row-wise evaluation is faster than pipelines, but ranks do not divide row-wise evaluation.
  for (const auto& versions : run.phases) {
    if (std::any_of(versions.begin(), versions.end(),
                    [](const running_version& one) { return one.figures->row_wise_runs != 0; }))
      return false;
  }
  for (const relation_id member : run.stratum.relations) {
    if (shared.relation_of(member).appended_rows() != 0) return false;
  }
  const undivided_work before{run.deltas, new_rows(run), seconds};
  run.division = shared.chosen.divider->divide(*run.executor, shared.program, run.number, &before);
  if (run.division == nullptr) return false;
  set_division(shared, run.division);
  return true;
}

/// Returns whether all ranks begin a further iteration, because the plan has changed.
template <class Machine>
[[nodiscard]] bool is_told_to_iterate(const stratum_run<Machine>& run) {
  return run.division != nullptr && run.division->has_new_plan();
}

/// Begins an iteration, or the rest of an iteration after a new plan, at all ranks.
/// @return whether the versions must be bound again
template <class Machine>
[[nodiscard]] bool begin_divided_iteration(stratum_run<Machine>& run, std::size_t phase) {
  if (run.division == nullptr) return false;
  const division::next next = run.division->begin_iteration(new_rows(run));
  if (next == division::next::iterate) return false;
  run.next_phase = phase;
  if (next == division::next::bind_again) {
    for (const relation_id one : run.division->abandoned()) run.shared.make_relation(one);
    run.take_over_plan();
    return true;
  }
  continue_alone(run);
  return true;
}

/// The versions of a phase at one rank, whose new rows all ranks receive.
template <class Machine>
class divided_phase {
 public:
  /// @param phase may change while its versions run
  divided_phase(stratum_run<Machine>& run, const plan::phase& phase) : run_(run) {
    if (run.division == nullptr) return;
    for (const plan::rule_version& version : phase.versions) heads_.insert(version.head);
    extended_.advance = phase.advance;
  }

  /// Exchanges the rows that the versions have appended.
  /// @return what follows at all ranks
  [[nodiscard]] phase_end end(phase_end decision) {
    if constexpr (!Machine::abilities.device_columns) {
      if (run_.division != nullptr) return exchange(decision);
    }
    return decision;
  }

 private:
  [[nodiscard]] phase_end exchange(phase_end decision) {
    plan_relations<Machine>& shared = run_.shared;
    const double seconds = storage::seconds_now() - start_;
    std::vector<appended_block> appended;
    for (const relation_id head : heads_) {
      shared.settle(head, run_.figures);
      const auto& target = shared.relation_of(head);
      const std::uint64_t known = std::min(run_.exchanged[head], target.appended_rows());
      appended_block& block = appended.emplace_back(appended_block{head, target.appended_rows() - known, {}});
      for (std::uint32_t column = 0; column < target.arity(); ++column)
        block.columns.push_back(target.column(column) + target.rows() + known);
    }
    const std::vector<relation_id>& abandoned = run_.division->abandoned();
    decision = run_.division->end_phase(decision, seconds, appended, [&](const appended_block& block) {
      if (std::find(abandoned.begin(), abandoned.end(), block.relation) != abandoned.end()) return;
      shared.guarded({"extending", block.relation, nullptr},
                     [&] { shared.machine.load_rows(shared.relation_of(block.relation), block.columns, block.rows); });
    });
    if (decision == phase_end::run_again || decision == phase_end::run_alone) {
      shared.forget_appended(extended_);
      return decision;
    }
    for (const relation_id head : heads_) {
      shared.settle(head, run_.figures);
      run_.exchanged[head] = shared.relation_of(head).appended_rows();
    }
    return decision;
  }

  stratum_run<Machine>& run_;
  double start_ = storage::seconds_now();
  std::set<relation_id> heads_;
  plan::phase extended_;  // without versions
};

}  // namespace gpulog::exec
