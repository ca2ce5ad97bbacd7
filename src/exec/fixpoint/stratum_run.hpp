#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include "exec/fixpoint/matrix_reads.hpp"
#include "exec/fixpoint/running_version.hpp"

namespace gpulog::exec {

/// A running stratum: the state that all strategies share.
template <class Machine>
struct stratum_run {
  using relation_type = typename Machine::relation;

  plan_relations<Machine>& shared;
  std::size_t number;
  const plan::stratum& stratum;
  stratum_statistics& figures;
  std::vector<std::vector<running_version>> phases;  ///< the phase before the loop, then the phases of the loop
  subsumptions_on<Machine> subsumptions;
  double start;                        ///< in seconds of a clock
  bool resumes;                        ///< continues a recursion that stopped on a different machine
  std::vector<std::uint64_t>& deltas;  ///< by iteration: rows of the program's relations
  const stratum_stops* stops;          ///< consulted between iterations; nullptr: never stop
  word& iteration;                     ///< value of recursive_iteration_cnt()
  const pipeline_context& context;
  bool is_complete = false;          ///< the work before the loop has computed everything
  std::uint64_t tried_bindings = 0;  ///< bindings of the loop's joins when the orders were last planned
  /// phase of the loop at which the running iteration continues; 0: between iterations
  std::size_t next_phase = 0;
  std::string_view schedule = {};  ///< of the row equations, if a schedule solved the equations
  stratum_executor* executor = nullptr;
  exec::division* division = nullptr;  ///< nullptr: this rank evaluates the stratum alone
  /// Seconds of the stratum after which rank 0 considers to divide the rest.
  double next_division = calibration::least_division_seconds;
  std::map<relation_id, std::uint64_t> exchanged = {};  ///< appended rows that all ranks have

  /// Returns whether the stratum can be evaluated as independent fixpoints.
  [[nodiscard]] bool falls_apart() const {
    return Machine::abilities.rows && !shared.is_published() && stratum.has_row_steps();
  }

  /// Applies a new plan of the versions, which must then be bound again.
  void take_over_plan() {
    shared.take_over_plan(number);
    if (division != nullptr) division->note_new_plan();
  }

  /// Binds the versions of the loop again after a new plan.
  void bind_loop_again() {
    if constexpr (Machine::abilities.rows) shared.machine.forget_rows();
    matrix_reads<Machine>(shared).prepare(stratum, number);
    bind_phases(1);
  }
  /// Binds the versions of a phase and of all later phases; phase 0 is before the loop.
  void bind_phases(std::size_t first) {
    if (first == 0) phases[0] = bind_versions(shared, context, stratum.once.versions, stratum.relations, figures, 0);
    std::size_t next = phases.front().size();
    for (std::size_t p = 0; p < stratum.loop.size(); ++p) {
      phases[p + 1] = bind_versions(shared, context, stratum.loop[p].versions, stratum.relations, figures, next);
      next += phases[p + 1].size();
    }
    if (stratum.recursive) skip_unread(stratum.supplementary, phases);
    next = 0;
    for (auto& versions : phases) {
      for (running_version& version : versions) version.figures = &figures.versions[next++];
    }
  }

  void tell_progress() const {
    if (!shared.chosen.on_progress) return;
    progress now{number, figures.iterations, 0, storage::seconds_now() - start, shared.chosen.backend_name};
    for (relation_id relation : stratum.relations) now.tuples += shared.tuples_of(relation);
    shared.chosen.on_progress(now);
  }

  /// Calls action(runner) for each relation with subsumption.
  template <class Action>
  void subsume(const Action& action) {
    const std::set<std::uint32_t> indexes = indexes_read(stratum.subsumptions);
    const auto guard = [&](const plan::subsumption& first, const auto& run) {
      // An earlier subsumption may have invalidated the indexes of the relation.
      for (std::uint32_t index : indexes) shared.refresh_index(index, figures);
      try {
        shared.guarded({"subsuming", first.relation, &first.version}, run);
      } catch (const kernels::arithmetic_fault&) {
        throw evaluation_fault(describe_fault(arithmetic_exception, first.version));
      } catch (const kernels::rule_fault& fault) {
        throw evaluation_fault(describe_fault(fault.what(), first.version));
      }
    };
    subsumptions.run(figures, guard, action);
  }
};

}  // namespace gpulog::exec
