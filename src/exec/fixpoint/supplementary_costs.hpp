#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "exec/calibration.hpp"
#include "exec/fixpoint/stratum_run.hpp"
#include "plan/cost/calibration.hpp"

namespace gpulog::exec {

/// The costs and savings of the supplementary relations of a running stratum, in bindings. A supplementary relation
/// must be computed and stored; each duplicate among the candidates saves the bindings that the readers produce for a
/// row. The excess of the cost over the savings may reach a share of all remaining work of the stratum. Beyond that
/// share, the excess may reach the work of the rules as written: the planner's estimate, or the measured work of the
/// step and its readers, if that is less. Then the relation is abandoned, and the run continues with these rules.
///
/// For a reduced relation (plan::semi_join) the savings are the rows of the whole relation that readers no longer find,
/// and the excess may reach cut_offs::free_supplementary_bindings.
template <class Machine>
class supplementary_costs {
 public:
  explicit supplementary_costs(stratum_run<Machine>& run) : run_(&run) {
    if (run.stops == nullptr || !run.stops->supplementary.abandon) return;
    if (!run.stratum.recursive && !Machine::ends_costly_runs) return;  // a single run, which nothing would end
    std::map<relation_id, std::size_t> number_of;
    for (const relation_id one : run.stratum.supplementary) {
      number_of.emplace(one, uses_.size());
      uses_.emplace_back().relation = one;
    }
    for (std::size_t p = run.stratum.recursive ? 1 : 0; p < run.phases.size(); ++p) {
      for (std::size_t v = 0; v < run.phases[p].size(); ++v) {
        const plan::rule_version& version = *run.phases[p][v].planned;
        if (!version.is_retired) note_uses(version, {p, v}, number_of);
      }
    }
  }

  /// Returns a relation that exceeds its budget, if any. Cheap while no supplementary relation has grown much.
  [[nodiscard]] std::optional<relation_id> find_costly() {
    for (uses_of& one : uses_) {
      const std::uint64_t rows = run_->shared.relation_of(one.relation).rows();
      if (rows < one.next_rows) continue;
      one.next_rows = rows + rows / rechecked_part + 1;
      if (excess_of(one) > limit_of(one) && !extend(one)) return one.relation;
    }
    return std::nullopt;
  }

  /// Grants the versions of a phase that extend supplementary relations the rest of their budgets.
  void grant(std::size_t phase) {
    for (uses_of& one : uses_) {
      if (one.writers.empty() || one.writers.front().first != phase) continue;
      auto& budget = one.budget;
      if (budget == nullptr) budget = std::make_unique<kernels::work_budget>();
      budget->row_cost = plan::calibration::stored_row_bindings;
      budget->duplicate_gain = gain_of(one);
      budget->grant(limit_of(one) - excess_of(one));
      for (const auto& [p, v] : one.writers) version(p, v).pipeline.budget = budget.get();
    }
  }

  /// Returns a relation whose versions have exhausted the budget.
  [[nodiscard]] std::optional<relation_id> over_budget() const {
    for (const uses_of& one : uses_) {
      if (one.budget != nullptr && one.budget->is_exceeded()) return one.relation;
    }
    return std::nullopt;
  }

  /// Raises the limit of a relation that exhausted its budget. The limit must grow: a run that ended early counts for
  /// nothing, so the same limit would end the next run as well.
  /// @return whether versions of the relation may run again
  [[nodiscard]] bool extend_budget(relation_id relation) {
    for (uses_of& one : uses_) {
      if (one.relation != relation) continue;
      const double former_limit = limit_of(one);
      if (!extend(one) || limit_of(one) <= former_limit) return false;
      grant(one.writers.front().first);
      return true;
    }
    return false;
  }
  /// Ends the budget: the relation is abandoned, or its versions may run without a limit.
  void end_budget(relation_id relation) {
    for (const uses_of& one : uses_) {
      if (one.relation != relation) continue;
      for (const auto& [p, v] : one.writers) version(p, v).pipeline.budget = nullptr;
    }
    std::erase_if(uses_, [relation](const uses_of& one) { return one.relation == relation; });
  }

 private:
  using place = std::pair<std::size_t, std::size_t>;  ///< phase and number of a version
  struct uses_of {
    relation_id relation;
    std::vector<place> writers, readers;
    std::vector<place> reduced_readers;  ///< find fewer rows in a reduced relation than in the whole relation
    std::uint64_t next_rows = 0;         ///< number of rows at which the costs are evaluated again
    double work_without = 0;             ///< the planner's last expectation without the relation; 0: not requested
    std::unique_ptr<kernels::work_budget> budget = nullptr;  ///< shared by the writers
  };
  static constexpr std::uint64_t rechecked_part = 8;

  /// @param number_of places of relations in uses_
  void note_uses(const plan::rule_version& version, const place& here,
                 const std::map<relation_id, std::size_t>& number_of) {
    const auto head = number_of.find(version.head);
    if (head != number_of.end()) uses_[head->second].writers.push_back(here);
    for_each_read(version, [&](relation_id read, index_id, bool) {
      const auto found = number_of.find(read);
      if (found == number_of.end()) return;
      uses_of& uses = uses_[found->second];
      if (!uses.readers.empty() && uses.readers.back() == here) return;
      uses.readers.push_back(here);
      if (finds_fewer(version, read)) uses.reduced_readers.push_back(here);
    });
  }
  [[nodiscard]] running_version& version(std::size_t phase, std::size_t number) const {
    return run_->phases[phase][number];
  }
  [[nodiscard]] std::uint64_t sum(const std::vector<place>& places, std::uint64_t version_statistics::*figure) const {
    std::uint64_t total = 0;
    for (const auto& [p, v] : places) total += version(p, v).figures->*figure;
    return total;
  }

  [[nodiscard]] const std::optional<plan::semi_join>& reduction_of(relation_id relation) const {
    return run_->shared.program.relations[relation.value].reduced;
  }
  /// Returns whether a version searches a reduced relation by other columns than those with a partner.
  [[nodiscard]] bool finds_fewer(const plan::rule_version& version, relation_id relation) const {
    const std::optional<plan::semi_join>& reduction = reduction_of(relation);
    if (!reduction) return false;
    bool result = false;
    for_each_column_read(run_->shared.program, version, [&](const plan::column_read& read) {
      if (read.relation != relation || read.how != plan::column_read::kind::key) return;
      result =
          result || std::none_of(read.key.begin(), read.key.end(), [&](std::uint32_t column) {
            return std::find(reduction->tested.begin(), reduction->tested.end(), column) != reduction->tested.end();
          });
    });
    return result;
  }
  /// Returns the bindings that readers of a reduced relation would have made in addition with the whole relation, if
  /// all keys have the same share of the rows.
  [[nodiscard]] double saved_by_reduction(const uses_of& one) const {
    const std::optional<plan::semi_join>& reduction = reduction_of(one.relation);
    const auto rows = static_cast<double>(run_->shared.relation_of(one.relation).rows());
    if (!reduction || rows == 0) return 0;
    const auto whole = static_cast<double>(run_->shared.relation_of(reduction->whole).rows());
    return static_cast<double>(sum(one.reduced_readers, &version_statistics::bindings)) * (whole / rows - 1);
  }

  /// Requests the planner's estimate for the rules as written.
  /// @return whether the rules as written would have taken more work than the relation
  [[nodiscard]] bool extend(uses_of& one) {
    // The rules as written do most of their work with a reduced relation, too: only measured work counts.
    if (reduction_of(one.relation)) return false;
    one.work_without = run_->stops->supplementary.work_without(run_->number, one.relation);
    return limit_of(one) > std::max(excess_of(one), limit_without_plan(one));
  }

  /// Returns the bindings of the rules as written in the order of the step and its readers, once readers have read most
  /// of the rows, appended rows included; infinite before. Rows of a delta that the step has not yet read in full are
  /// expected to cost as much as the rows before.
  [[nodiscard]] double measured_without(const uses_of& one) const {
    const auto& relation = run_->shared.relation_of(one.relation);
    const std::uint64_t rows = relation.rows() + relation.appended_rows();
    std::uint64_t read = 0;
    for (const auto& [p, v] : one.readers) {
      if (version(p, v).delta == one.relation) read = std::max(read, version(p, v).figures->delta_rows);
    }
    if (read < rows / 2 + 1) return std::numeric_limits<double>::infinity();
    double growth = 1;
    for (const auto& [p, v] : one.writers) {
      if (!version(p, v).delta) continue;
      const auto& extended = run_->shared.relation_of(*version(p, v).delta);
      const std::uint64_t before = extended.rows() - extended.delta_rows();
      if (before == 0) return std::numeric_limits<double>::infinity();
      growth = std::max(growth, static_cast<double>(extended.rows()) / static_cast<double>(before));
    }
    const auto bindings = static_cast<double>(sum(one.writers, &version_statistics::bindings));
    return growth * (bindings + gain_of(one) * static_cast<double>(sum(one.writers, &version_statistics::candidates)));
  }

  /// Returns the bindings that a duplicate saves: the duplicate is not stored, and the readers do not join it again.
  [[nodiscard]] double gain_of(const uses_of& one) const {
    if (reduction_of(one.relation)) return 0;
    const auto rows = static_cast<double>(run_->shared.relation_of(one.relation).rows());
    if (rows == 0) return calibration::expected_row_bindings;
    return 1 + static_cast<double>(sum(one.readers, &version_statistics::bindings)) / rows;
  }

  [[nodiscard]] double excess_of(const uses_of& one) const {
    const std::uint64_t rows = run_->shared.relation_of(one.relation).rows();
    const std::uint64_t candidates = std::max(sum(one.writers, &version_statistics::candidates), rows);
    return static_cast<double>(sum(one.writers, &version_statistics::bindings)) +
           plan::calibration::stored_row_bindings * static_cast<double>(rows) -
           gain_of(one) * static_cast<double>(candidates - rows) - saved_by_reduction(one);
  }

  /// Returns the limit of the excess.
  [[nodiscard]] double limit_of(const uses_of& one) const {
    return std::max(std::min(one.work_without, measured_without(one)), limit_without_plan(one));
  }
  /// Returns the limit before the planner's estimate.
  [[nodiscard]] double limit_without_plan(const uses_of& one) const {
    const cut_offs& cut = run_->shared.chosen.cut;
    if (reduction_of(one.relation)) return cut.free_supplementary_bindings;
    std::uint64_t bindings = 0;
    std::uint64_t rows = 0;
    for (const auto& versions : run_->phases) {
      for (const running_version& other : versions) {
        bindings += other.figures->bindings;
        rows += other.figures->tuples;
      }
    }
    bindings -= sum(one.writers, &version_statistics::bindings);
    rows -= sum(one.writers, &version_statistics::tuples);
    const double others =
        static_cast<double>(bindings) + plan::calibration::stored_row_bindings * static_cast<double>(rows);
    return std::max(cut.free_supplementary_bindings, cut.supplementary_share * others);
  }

  stratum_run<Machine>* run_;
  std::vector<uses_of> uses_;
};

/// Continues without a supplementary relation.
/// @return whether the plan has changed
template <class Machine>
bool abandon(stratum_run<Machine>& run, relation_id supplementary) {
  const std::vector<relation_id> abandoned = run.stops->supplementary.abandon(run.number, supplementary);
  for (const relation_id one : abandoned) run.shared.make_relation(one);
  if (!abandoned.empty()) run.take_over_plan();
  if (run.division != nullptr) run.division->note_abandoned(abandoned);
  return !abandoned.empty();
}

/// Runs the versions of a phase. If a version exceeds the granted budget of its supplementary relation, the phase runs
/// again with a larger budget, or continues without the relation.
/// @param phase 0: before the loop
/// @param run_versions may run several times
/// @return whether the plan has changed
template <class Machine, class Run>
bool run_within_budgets(stratum_run<Machine>& run, supplementary_costs<Machine>& supplementary, std::size_t phase,
                        const Run& run_versions) {
  run_versions();
  bool has_changed = false;
  while (const auto costly = supplementary.over_budget()) {
    if (!supplementary.extend_budget(*costly)) {
      const bool is_abandoned = abandon(run, *costly);
      supplementary.end_budget(*costly);
      has_changed = has_changed || is_abandoned;
      if (is_abandoned) continue;
    }
    run.shared.forget_appended(phase == 0 ? run.stratum.once : run.stratum.loop[phase - 1]);
    run_versions();
  }
  return has_changed;
}

}  // namespace gpulog::exec
