#pragma once

#include <algorithm>
#include <atomic>
#include <iterator>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "exec/executor.hpp"
#include "exec/fixpoint/iteration_runner.hpp"
#include "exec/fixpoint/magic_sets_check.hpp"
#include "exec/fixpoint/phase_runner.hpp"
#include "exec/fixpoint/plan_relations.hpp"
#include "exec/fixpoint/plan_tasks.hpp"
#include "exec/fixpoint/reads.hpp"
#include "exec/fixpoint/stratum_subsumptions.hpp"
#include "kernels/rows/row_task.hpp"
#include "kernels/search/decomposed_task.hpp"
#include "kernels/search/numbered_task.hpp"
#include "kernels/steps/functor_table.hpp"
#include "kernels/steps/host_steps.hpp"

namespace gpulog::exec {

/// Semi-naive evaluation of a plan, stratum by stratum. In each iteration: the rule versions of each phase (join), then
/// settle (`hisa`: populate delta and merge), advance (clear new) and refresh the indexes that the loop reads.
///
/// Machine is where it runs: its `relation` has the interface of storage::relation, and it can make one, load rows,
/// settle, index, run a pipeline and show rows to the host (exec/cpu/cpu_machine.hpp); if it has `phases()`, those
/// count, and if it has `make_iteration_runner()`, it is first given all iterations of a stratum.
template <class Machine>
class fixpoint_executor final : public stratum_executor, private phase_runner<Machine> {
 public:
  template <class... Arguments>
  fixpoint_executor(const plan::program& program, storage::symbol_table& symbols, backend::memory_resource& resource,
                    const options& chosen, Arguments&&... machine)
      : base(program, symbols, resource, chosen, std::forward<Arguments>(machine)...) {}

  void load(relation_id relation, const std::vector<const word*>& columns, std::uint64_t rows) override {
    require_kind_of(relation);
    load_relation(relation, columns, rows);
  }

  void evaluate() override {
    load_facts(*this, *plan_, options_.wide);
    for (std::size_t s = 0; s < plan_->strata.size(); ++s) {
      if (is_to_run(plan_->strata[s], figures_.strata)) {
        run_stratum(s);
      } else {
        skip_stratum(s);
        figures_.strata.emplace_back().was_run = false;
      }
    }
  }

  void adopt(relation_id relation, const std::vector<const word*>& columns, std::uint64_t rows) override {
    adopt_relation(relation, columns, rows);
  }

  void release(relation_id relation) override { make_relation(relation); }
  void forget_columns(relation_id relation) override { machine_.forget_host_columns(relation_of(relation)); }

  [[nodiscard]] std::optional<stopped_recursion> run_until(std::size_t number, const stratum_stops& stops) override {
    stops_ = stops.between_iterations ? &stops.between_iterations : nullptr;
    const struct restored_stop {
      const std::atomic<bool>*& place;
      const std::atomic<bool>* before;
      ~restored_stop() { place = before; }
    } restored{options_.stop, options_.stop};
    if (stops.now != nullptr) options_.stop = stops.now;
    return run_part(number, nullptr);
  }
  void resume_stratum(std::size_t number, const stopped_recursion& from) override {
    stops_ = nullptr;
    static_cast<void>(run_part(number, &from));
  }
  [[nodiscard]] std::uint64_t old_rows(relation_id relation) const override { return relation_of(relation).old_rows(); }
  void adopt_running(relation_id relation, const std::vector<const word*>& columns, std::uint64_t rows,
                     std::uint64_t old_rows) override {
    relation_type& target = relation_of(relation);
    guarded({"copying", relation, nullptr}, [&] {
      machine_.load_rows(target, columns, old_rows);
      machine_.settle(target);
      target.complete();
      // A tuple of no columns has no column to skip rows of.
      std::vector<const word*> delta;
      for (const word* column : columns) delta.push_back(column + old_rows);
      machine_.load_rows(target, delta, rows - old_rows);
      machine_.settle(target);
      target.advance();
    });
  }
  void skip_stratum(std::size_t number) override {
    free_what_is_done(number);
    next_stratum_ = number + 1;
  }

  [[nodiscard]] std::vector<const word*> columns(relation_id relation) override {
    std::vector<const word*> columns;
    guarded({"writing out", relation, nullptr}, [&] { columns = machine_.host_columns(relation_of(relation)); });
    return columns;
  }
  [[nodiscard]] std::unique_ptr<row_stream> stream_rows([[maybe_unused]] relation_id relation) override {
    if constexpr (requires { machine_.stream_rows(relation_of(relation)); }) {
      return machine_.stream_rows(relation_of(relation));
    } else {
      return nullptr;
    }
  }
  void read_pairs([[maybe_unused]] relation_id relation, [[maybe_unused]] std::uint64_t first,
                  [[maybe_unused]] std::uint64_t n, [[maybe_unused]] word* const* columns) const override {
    if constexpr (holds_equivalences) {
      relation_of(relation).as_equivalence()->read_pairs(true, true, first, n, columns[0], columns[1]);
    } else {
      executor::read_pairs(relation, first, n, columns);
    }
  }
  [[nodiscard]] std::uint64_t rows(relation_id relation) const override { return relations_[relation.value]->rows(); }
  [[nodiscard]] const statistics& figures() override {
    figures_.memory_bytes = resource_->used();
    figures_.peak_memory_bytes = resource_->peak();
    figures_.allocations = resource_->allocations();
    return figures_;
  }

 private:
  using base = phase_runner<Machine>;
  using base::adopt_relation, base::arithmetic_exception, base::bound_of, base::check_stop, base::choose_sets,
      base::is_published, base::describe, base::forget_rows, base::free_what_is_done, base::guarded,
      base::holds_equivalences, base::iteration_, base::last_uses_, base::last_version_, base::limit_reached,
      base::load_relation, base::machine_, base::make_relation, base::next_stratum_, base::options_, base::places_,
      base::plan_, base::prepare, base::refresh_index, base::refresh_indexes, base::relation_of, base::relations_,
      base::require_kind_of, base::resource_, base::rows_of, base::run_phase, base::set_of, base::settle,
      base::use_priority_delta, base::skip_sets, base::sum_of, base::tuples_of;
  using typename base::relation_type;
  using typename base::running_version;

  using running_subsumptions = typename subsumptions_of<Machine>::type;

  /// Calls action(runner) for each relation with subsumptions.
  template <class Action>
  void subsume(const plan::stratum& stratum, running_subsumptions& running, stratum_statistics& figures,
               const Action& action) {
    const std::set<std::uint32_t> indexes = indexes_read(stratum.subsumptions);
    const auto guard = [&](const plan::subsumption& first, const auto& run) {
      // The one before may have emptied those of its relation.
      for (std::uint32_t index : indexes) refresh_index(index, figures);
      try {
        guarded({"subsuming", first.relation, &first.version}, run);
      } catch (const kernels::arithmetic_fault&) {
        throw evaluation_fault(describe(arithmetic_exception, first.version));
      } catch (const kernels::functor_fault& fault) {
        throw evaluation_fault(describe(fault.what(), first.version));
      }
    };
    running.run(figures, guard, action);
  }

  /// What is left of a stratum, in one go or until the recursion is stopped.
  std::optional<stopped_recursion> run_part(std::size_t number, const stopped_recursion* from) {
    deltas_.clear();
    if (from != nullptr) deltas_ = from->deltas;
    if (!evaluate_stratum(number, from != nullptr)) return stopped_recursion{deltas_};
    next_stratum_ = number + 1;
    return std::nullopt;
  }

  /// @param resumes whether its relations are those of a recursion that was stopped
  /// @return whether it is complete; else the recursion was stopped
  bool evaluate_stratum(std::size_t number, bool resumes) {
    const plan::stratum& stratum = plan_->strata[number];
    stratum_statistics& figures = figures_.strata.emplace_back();
    const machine_phases before = phases_of_machine();
    const double start = storage::seconds_now();
    const typename Machine::trace_range traced(stratum_name(stratum));
    for_each_version(stratum, [&](const plan::rule_version& version) { require_kind_of(version.head); });

    // Every version is bound once; what it reads and writes stays where it is.
    std::vector<std::vector<running_version>> phases;
    phases.push_back(prepare(stratum.once.versions, stratum.relations, figures));
    for (const auto& phase : stratum.loop) phases.push_back(prepare(phase.versions, stratum.relations, figures));
    iteration_ = 0;
    const pipeline_context bound = this->context();
    running_subsumptions subsumptions(machine_, bound, stratum, relations_, figures);
    std::size_t next = 0;
    for (auto& versions : phases) {
      for (auto& version : versions) version.figures = &figures.versions[next++];
    }

    const magic_sets_check demand(*plan_, number, options_);
    bool is_complete = true;
    if (resumes) {
      choose_sets(stratum);
      is_complete = run_loop(number, phases, subsumptions, demand, figures, start);
    } else if (!is_given_up(stratum, demand, 0, phases, figures)) {
      run_once(number, phases[0], subsumptions, figures);
      if (stratum.recursive && !run_decomposed(number, phases, figures)) {
        if (falls_apart(stratum)) choose_sets(stratum);
        is_complete = run_loop(number, phases, subsumptions, demand, figures, start);
      }
    }
    forget_rows();
    if (is_complete) complete_stratum(number, figures);
    if constexpr (measures_phases) take_phases(before, figures);
    figures.seconds = storage::seconds_now() - start;
    return is_complete;
  }

  [[nodiscard]] bool falls_apart(const plan::stratum& stratum) const {
    return !is_published() && stratum.decomposed.has_value();
  }

  /// The phase in front of the loop; what it finds is the first delta.
  void run_once(std::size_t number, std::vector<running_version>& versions, running_subsumptions& subsumptions,
                stratum_statistics& figures) {
    const plan::stratum& stratum = plan_->strata[number];
    if (!run_rows(number, versions, figures)) {
      skip_sets(stratum);
      if (!falls_apart(stratum)) choose_sets(stratum);
      refresh_indexes(indexes_read(stratum.once.versions, Machine::makes_other_searches), figures);
      run_phase(versions, figures);
      for (relation_id relation : stratum.relations) settle(relation, figures);
    }
    if (!stratum.subsumptions.empty()) {
      for (relation_id relation : stratum.relations) relation_of(relation).complete();
      subsume(stratum, subsumptions, figures, [&stratum](auto& runner) { runner.purge(!stratum.recursive); });
    }
    if (stratum.recursive) use_priority_delta(stratum, options_.cut.priority_rows * options_.threads);
    for (relation_id relation : stratum.relations) {
      if (stratum.recursive) {
        relation_of(relation).restart();
      } else {
        relation_of(relation).complete();
      }
    }
  }

  void complete_stratum(std::size_t number, stratum_statistics& figures) {
    const plan::stratum& stratum = plan_->strata[number];
    const double clearing = storage::seconds_now();
    for (relation_id relation : stratum.relations) {
      relation_of(relation).complete();
      figures.relations.push_back({relation, 0, 0, {}, set_of(relation_of(relation))});
    }
    free_what_is_done(number);
    for (relation_statistics& filled : figures.relations) {
      const relation_type& done = relation_of(filled.relation);
      filled.rows = done.rows();
      filled.bytes = done.bytes();
      filled.phases = done.times();
    }
    figures.clear_seconds += storage::seconds_now() - clearing;
  }

  [[nodiscard]] std::string stratum_name(const plan::stratum& stratum) const {
    std::string name = "stratum";
    for (relation_id relation : stratum.relations) name += " " + plan_->relations[relation.value].name;
    return name;
  }

  /// The loop's results by one search for each value of the columns that it passes through. @return whether it was
  /// done
  bool run_decomposed(std::size_t number, std::vector<std::vector<running_version>>& phases,
                      stratum_statistics& figures) {
    const plan::stratum& stratum = plan_->strata[number];
    if (!falls_apart(stratum)) return false;
    if constexpr (requires(kernels::decomposed_task task) {
                    machine_.run_decomposed(task, relations_, options_.stop);
                  }) {
      const double start = storage::seconds_now();
      const double indexed = figures.index_seconds;
      const std::uint64_t first_rows = rows_of(stratum);
      std::optional<kernels::decomposed_counts> counts;
      running_version& version = phases[1].front();
      guarded({"extending", version.planned->head, version.planned}, [&] {
        counts = search_values(*stratum.decomposed, figures);
        figures.numbered = !counts;
        if (!counts) counts = machine_.run_numbered(numbered_task_of(*stratum.decomposed), relations_, options_.stop);
      });
      const double seconds = storage::seconds_now() - start - (figures.index_seconds - indexed);
      figures.join_seconds += seconds;
      figures.decomposed = counts.has_value();
      if (!counts) {
        figures.numbered = false;
        return false;
      }
      figures.iterations = counts->iterations;
      tell_progress(number, figures, start);
      version.figures->seconds += seconds;
      version.figures->runs += counts->iterations;
      version.figures->candidates += counts->candidates;
      version.figures->tuples += rows_of(stratum) - first_rows;
      for (const relation_id target : stratum.relations) {
        if (last_uses_.set_needed[target.value] == number) continue;
        guarded({"indexing", target, nullptr}, [&] { machine_.make_set(relation_of(target)); });
      }
      return true;
    }
    return false;
  }

  /// With bitmaps of values as they are. @return nothing, and nothing is done, where they are tuples, or too large
  std::optional<kernels::decomposed_counts> search_values(const plan::decomposition& planned,
                                                          stratum_statistics& figures) {
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
    task.values = bound_of(places);
    if (task.values > machine_.bitmap_values()) return std::nullopt;
    for (const plan::decomposed_step& step : planned.steps) {
      refresh_index(step.index.value, figures);
      const plan::index& index = plan_->indexes[step.index.value];
      const storage::index_layout layout = make_layout(index, options_.storage);
      const auto level = std::find(index.key_lengths.begin(), index.key_lengths.end(), 1U) - index.key_lengths.begin();
      const auto stored =
          std::find(layout.stored.begin(), layout.stored.end(), step.columns.front()) - layout.stored.begin();
      task.steps.push_back({step.relation.value, places_[step.index.value].number, static_cast<std::size_t>(level),
                            static_cast<std::uint32_t>(stored)});
    }
    return machine_.run_decomposed(task, relations_, options_.stop);
  }

  /// What `once` does, for one value of the head's first column at a time. @return whether it was done
  bool run_rows(std::size_t number, std::vector<running_version>& versions, stratum_statistics& figures) {
    const plan::stratum& stratum = plan_->strata[number];
    if (is_published() || !stratum.by_rows) return false;
    if (!compare_words(stratum.by_rows->filters, options_.wide)) return false;
    if constexpr (requires(kernels::row_task task, kernels::row_cut_offs cut) {
                    machine_.run_rows(task, relations_, cut, options_.stop);
                  }) {
      const relation_id target = stratum.relations.front();
      if (relation_of(target).rows() != 0) return false;
      // What derives each tuple once has no set to do without.
      if (options_.rows != row_mode::always && !plan_->relations[target.value].needs_set) return false;
      kernels::row_task task = row_task_of(stratum, options_.wide);
      task.forced = options_.rows == row_mode::always;
      task.needs_set = last_uses_.set_needed[target.value] != number;
      const double start = storage::seconds_now();
      std::optional<kernels::row_counts> counts;
      try {
        counts = machine_.run_rows(task, relations_, Machine::rows_pay, options_.stop);
      } catch (const backend::memory_exceeded&) {
        // Pipelines need other memory, and say what they lack.
      }
      const double seconds = storage::seconds_now() - start;
      figures.join_seconds += seconds;
      if (!counts) return false;
      figures.by_rows = true;
      for (std::size_t v = 0; v < versions.size(); ++v) {
        version_statistics& own = *versions[v].figures;
        own.seconds += seconds / static_cast<double>(versions.size());
        own.candidates += counts->candidates[v];
        if (counts->candidates[v] != 0) ++own.runs;
      }
      // Which rule found a result first, nobody asked.
      versions.front().figures->tuples += relation_of(target).rows();
      if (task.needs_set) guarded({"indexing", target, nullptr}, [&] { machine_.make_set(relation_of(target)); });
      return true;
    }
    return false;
  }

  /// Whether the stratum goes on without the restrictions of its relations, elsewhere.
  /// @param phase in front of which it is
  [[nodiscard]] bool is_given_up(const plan::stratum& stratum, const magic_sets_check& demand, std::size_t phase,
                                 const std::vector<std::vector<running_version>>& phases, stratum_statistics& figures) {
    if (!demand.is_due(phase)) return false;
    magic_sets_check::work done;
    for (const auto& versions : phases) {
      for (const running_version& version : versions) {
        const auto candidates = static_cast<double>(version.figures->candidates);
        done.candidates += candidates;
        if (demand.restricts(version.planned->head)) done.restricted_candidates += candidates;
      }
    }
    const std::uint64_t joined = sum_of(stratum, [](const relation_type& one) { return one.old_rows(); });
    const std::uint64_t all = sum_of(stratum, [](const relation_type& one) { return one.rows(); });
    done.joined_share = static_cast<double>(joined) / static_cast<double>(std::max<std::uint64_t>(all, 1));
    figures.given_up = demand.too_large_share([this](relation_id id) { return relation_of(id).rows(); }, done);
    return figures.given_up.has_value();
  }

  /// @return whether it came to its end, or was given up; else it was stopped between iterations
  bool run_loop(std::size_t number, std::vector<std::vector<running_version>>& phases,
                running_subsumptions& subsumptions, const magic_sets_check& demand, stratum_statistics& figures,
                double start) {
    const plan::stratum& stratum = plan_->strata[number];
    std::set<std::uint32_t> indexes;
    for (const auto& phase : stratum.loop) indexes.merge(indexes_read(phase.versions, Machine::makes_other_searches));
    indexes.merge(indexes_read(stratum.subsumptions));
    refresh_indexes(indexes, figures);
    figures.iterations = deltas_.size();

    const auto any_delta = [&] {
      return std::any_of(stratum.relations.begin(), stratum.relations.end(),
                         [this](relation_id relation) { return relation_of(relation).delta_rows() != 0; });
    };
    std::vector<std::vector<std::uint32_t>> due;  // by phase: indexes of what advances behind it
    for (const auto& phase : stratum.loop) {
      const std::set<relation_id> advanced(phase.advance.begin(), phase.advance.end());
      auto& behind = due.emplace_back();
      std::copy_if(indexes.begin(), indexes.end(), std::back_inserter(behind),
                   [&](std::uint32_t index) { return advanced.contains(places_[index].relation); });
    }
    const std::unique_ptr<iteration_runner> by_itself = iteration_runner_of(stratum, phases);
    std::size_t phase = 0;  // that the iteration goes on with
    while (phase != 0 || (any_delta() && !limit_reached(stratum))) {
      if (phase == 0 && is_to_stop(stratum)) return false;
      if (by_itself != nullptr) {
        const std::size_t told = deltas_.size();
        phase = run_iterations(*by_itself, phase, phases, indexes, figures);
        if (deltas_.size() > told) tell_progress(number, figures, start);
        if (phase == 0 && !any_delta()) break;
      }
      iteration_ = static_cast<word>(figures.iterations + 1);
      for (std::size_t p = std::exchange(phase, 0); p < stratum.loop.size(); ++p) {
        if (is_given_up(stratum, demand, p, phases, figures)) return true;
        run_phase(phases[p + 1], figures);
        for (relation_id relation : stratum.loop[p].advance) settle(relation, figures);
        if (p + 1 == stratum.loop.size()) subsume(stratum, subsumptions, figures, [](auto& runner) { runner.step(); });
        for (relation_id relation : stratum.loop[p].advance) relation_of(relation).advance();
        refresh_indexes(due[p], figures);
      }
      ++figures.iterations;
      deltas_.push_back(sum_of(stratum, [](const relation_type& one) { return one.delta_rows(); }));
      tell_progress(number, figures, start);
    }
    use_priority_delta(stratum, 0);
    subsume(stratum, subsumptions, figures, [](auto& runner) { runner.finish(); });
    const std::uint64_t result = sum_of(stratum, [](const relation_type& one) { return one.rows(); });
    figures.tail_iterations = static_cast<std::uint64_t>(
        std::count_if(deltas_.begin(), deltas_.end(), [result](std::uint64_t delta) { return delta < result / 100; }));
    return true;
  }

  [[nodiscard]] bool is_to_stop(const plan::stratum& stratum) const {
    if (stops_ == nullptr) return false;
    // What the planner added has deltas of its own; for a decision these will do.
    const std::uint64_t delta_rows =
        deltas_.empty() ? sum_of(stratum, [](const relation_type& one) { return one.delta_rows(); }) : deltas_.back();
    return (*stops_)(deltas_.size(), delta_rows);
  }

  static constexpr bool loops_by_itself = requires(Machine & machine, kernels::relation_list<relation_type>& all) {
    machine.make_iteration_runner(looped_stratum(), all);
  };

  /// What runs iterations without asking in between; nullptr: nothing does.
  [[nodiscard]] std::unique_ptr<iteration_runner> iteration_runner_of(
      [[maybe_unused]] const plan::stratum& stratum,
      [[maybe_unused]] const std::vector<std::vector<running_version>>& phases) {
    if constexpr (loops_by_itself) {
      const bool is_limited = std::any_of(stratum.relations.begin(), stratum.relations.end(), [this](relation_id id) {
        return plan_->relations[id.value].size_limit != 0;
      });
      if (is_limited || !stratum.subsumptions.empty()) return nullptr;
      looped_stratum looped;
      for (relation_id id : stratum.relations)
        looped.relations.push_back({id.value, !plan_->relations[id.value].supplementary});
      for (std::size_t p = 0; p < stratum.loop.size(); ++p) {
        looped_phase& phase = looped.phases.emplace_back();
        for (const running_version& version : phases[p + 1])
          phase.versions.push_back({&version.pipeline, &version.candidates_per_row});
        for (relation_id id : stratum.loop[p].advance) phase.advanced.push_back(id.value);
      }
      return machine_.make_iteration_runner(std::move(looped), relations_);
    } else {
      return nullptr;
    }
  }

  /// As many iterations as run by themselves, the first one from a phase on. @return the phase to go on with
  std::size_t run_iterations(iteration_runner& runner, std::size_t phase,
                             std::vector<std::vector<running_version>>& phases, const std::set<std::uint32_t>& indexes,
                             stratum_statistics& figures) {
    for (bool goes_on = true; goes_on;) {
      check_stop();
      const double start = storage::seconds_now();
      const typename Machine::trace_range traced("iterations");
      const looped_iterations done = runner.run(phase);
      if (!done.has_run) return phase;
      const double seconds = storage::seconds_now() - start;
      figures.join_seconds += seconds;
      figures.iterations += done.deltas.size();
      figures.looped_iterations += done.deltas.size();
      deltas_.insert(deltas_.end(), done.deltas.begin(), done.deltas.end());
      std::size_t next = 0;
      for (std::size_t p = 1; p < phases.size(); ++p) {
        for (running_version& version : phases[p]) {
          const looped_iterations::version_counts& counts = done.versions[next++];
          if (done.faulty == &version.pipeline)
            throw evaluation_fault(describe(arithmetic_exception, *version.planned));
          // Where one ends and the next begins, nobody asked.
          version.figures->seconds += seconds / static_cast<double>(done.versions.size());
          version.figures->runs += counts.runs;
          version.figures->candidates += counts.candidates;
          version.figures->tuples += counts.fresh;
          if (counts.runs != 0) last_version_[version.planned->head.value] = version.planned;
        }
      }
      for (std::uint32_t index : indexes) refresh_index(index, figures);
      phase = done.next_phase;
      goes_on = done.goes_on;
    }
    return phase;
  }

  void tell_progress(std::size_t number, const stratum_statistics& figures, double start) const {
    if (!options_.on_progress) return;
    progress now{number, figures.iterations, 0, storage::seconds_now() - start, options_.backend_name};
    for (relation_id relation : plan_->strata[number].relations) now.tuples += tuples_of(relation);
    options_.on_progress(now);
  }

  static constexpr bool measures_phases = requires(Machine & machine) { machine.phases(); };
  [[nodiscard]] machine_phases phases_of_machine() {
    if constexpr (measures_phases) {
      return machine_.phases();
    } else {
      return {};
    }
  }
  void take_phases(const machine_phases& before, stratum_statistics& figures) {
    const machine_phases now = phases_of_machine();
    figures.join_seconds = now.join - before.join;
    figures.populate_delta_seconds = now.populate_delta - before.populate_delta;
    figures.merge_seconds = now.merge - before.merge;
    figures.index_seconds = now.index - before.index;
    figures.allocation_seconds = now.allocation - before.allocation;
  }

  const stop_check* stops_ = nullptr;  ///< asked by the stratum that is running; nullptr: nobody
  std::vector<std::uint64_t> deltas_;  ///< of its iterations, by number: rows of the program's relations
  statistics figures_;
};

}  // namespace gpulog::exec
