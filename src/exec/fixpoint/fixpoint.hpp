#pragma once

#include <algorithm>
#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "exec/executor.hpp"
#include "exec/fixpoint/erased_tuples.hpp"
#include "exec/fixpoint/machine.hpp"
#include "exec/fixpoint/matrix_reads.hpp"
#include "exec/fixpoint/partitioned_relations.hpp"
#include "exec/fixpoint/plan_relations.hpp"
#include "exec/fixpoint/running_version.hpp"
#include "exec/fixpoint/stratum_run.hpp"
#include "exec/strategies/strategies.hpp"
#include "plan/reads.hpp"

namespace gpulog::exec {

/// Semi-naive evaluation of a plan, stratum by stratum: each stratum by the first strategy that accepts the stratum
/// (exec/strategies). Each iteration of the loop runs the rule versions of each phase (join), then settles (`hisa`:
/// populate delta and merge), advances (clear new) and refreshes the indexes that the loop reads.
template <fixpoint_machine Machine>
class fixpoint_executor final : public stratum_executor {
 public:
  template <class... Arguments>
  fixpoint_executor(const plan::program& program, storage::symbol_table& symbols, backend::memory_resource& resource,
                    const options& chosen, Arguments&&... machine)
      : shared_(program, resource, chosen, std::forward<Arguments>(machine)...),
        symbols_(&symbols),
        strip_counters_(chosen.strip_counters),
        erased_(resource),
        partitioned_(shared_) {}

  void load(relation_id relation, const std::vector<const word*>& columns, std::uint64_t rows) override {
    shared_.require_kind_of(relation);
    shared_.load_relation(relation, columns, rows);
  }

  void evaluate() override {
    load_facts(*this, shared_.program, shared_.chosen.wide);
    for (std::size_t s = 0; s < shared_.program.strata.size(); ++s) {
      if (shared_.chosen.reoptimize && shared_.chosen.reoptimize(s)) take_over_plan(s);
      stratum_stops stops;
      if (shared_.chosen.reoptimize_loop)
        stops.reoptimize_loop = [this, s] { return shared_.chosen.reoptimize_loop(s); };
      if (shared_.chosen.put_back)
        stops.put_back = [this, s](std::size_t version) { return shared_.chosen.put_back(s, version); };
      stops.supplementary = shared_.chosen.supplementary;
      static_cast<void>(run_until(s, stops));
    }
  }

  void adopt(relation_id relation, const std::vector<const word*>& columns, std::uint64_t rows, bool lasts) override {
    shared_.adopt_relation(relation, columns, rows, lasts);
  }

  void release(relation_id relation) override {
    partitioned_.end(relation);
    shared_.make_relation(relation);
  }
  void forget_columns(relation_id relation) override {
    partitioned_.forget_columns(relation);
    shared_.machine.forget_host_columns(shared_.relation_of(relation));
    erased_.forget_columns(relation);
  }

  [[nodiscard]] std::optional<stopped_recursion> run_until(std::size_t number, const stratum_stops& stops) override {
    stops_ = &stops;
    return run_part(number, nullptr);
  }
  void resume_stratum(std::size_t number, const stopped_recursion& from, const stratum_stops& stops) override {
    stops_ = &stops;
    static_cast<void>(run_part(number, &from));
  }
  [[nodiscard]] std::uint64_t old_rows(relation_id relation) const override {
    return shared_.relation_of(relation).old_rows();
  }
  void adopt_running(relation_id relation, const std::vector<const word*>& columns, std::uint64_t rows,
                     std::uint64_t old_rows) override {
    auto& target = shared_.relation_of(relation);
    shared_.guarded({"copying", relation, nullptr}, [&] {
      shared_.machine.load_rows(target, columns, old_rows);
      shared_.machine.settle(target);
      target.complete();
      // A tuple without columns needs no offset.
      std::vector<const word*> delta;
      for (const word* column : columns) delta.push_back(column + old_rows);
      shared_.machine.load_rows(target, delta, rows - old_rows);
      shared_.machine.settle(target);
      target.advance();
    });
  }
  void append(relation_id relation, const std::vector<const word*>& columns, std::uint64_t rows) override {
    auto& target = shared_.relation_of(relation);
    shared_.guarded({"loading", relation, nullptr}, [&] {
      shared_.machine.load_rows(target, columns, rows);
      shared_.machine.settle(target);
    });
  }
  std::vector<std::uint64_t> erase([[maybe_unused]] relation_id relation,
                                   [[maybe_unused]] const std::vector<const word*>& columns,
                                   [[maybe_unused]] std::uint64_t rows) override {
    if constexpr (can_erase) {
      std::vector<std::uint64_t> erased;
      shared_.guarded({"erasing", relation, nullptr},
                      [&] { erased = erased_.erase(shared_.relation_of(relation), relation, columns, rows); });
      return erased;
    } else {
      throw internal_error("a machine without erasable rows is asked to erase some");
    }
  }
  void continue_stratum(std::size_t number, const stratum_stops& stops) override {
    figures_.strata.resize(number);  // drops the statistics of the previous run
    for (relation_id relation : shared_.program.strata[number].relations) shared_.relation_of(relation).advance();
    resume_stratum(number, {}, stops);
    figures_.strata[number].continued = true;
  }
  void take_over_plan(std::size_t number) override { shared_.take_over_plan(number); }
  void skip_stratum(std::size_t number) override {
    shared_.free_what_is_done(number);
    shared_.next_stratum = number + 1;
  }

  [[nodiscard]] std::vector<const word*> columns(relation_id relation) override {
    std::vector<const word*> columns = all_columns(relation);
    if constexpr (can_erase) {
      if (shared_.program.relations[relation.value].loses_tuples) {
        shared_.guarded({"writing out", relation, nullptr},
                        [&] { columns = erased_.remaining(shared_.relation_of(relation), relation, columns); });
      }
    }
    return columns;
  }
  [[nodiscard]] std::vector<const word*> appended_columns(relation_id relation, std::uint64_t tuples) override {
    std::vector<const word*> columns = all_columns(relation);
    const std::uint64_t first = shared_.relation_of(relation).rows() - (rows(relation) - tuples);
    for (const word*& column : columns) column += first;
    return columns;
  }
  [[nodiscard]] std::unique_ptr<row_stream> stream_rows([[maybe_unused]] relation_id relation) override {
    if (partitioned_.rows_elsewhere(relation) != 0) return partitioned_.stream_rows(relation);
    if constexpr (Machine::abilities.streams) {
      return shared_.machine.stream_rows(shared_.relation_of(relation));
    } else {
      return nullptr;
    }
  }
  [[nodiscard]] std::optional<columns_on_device> device_columns([[maybe_unused]] relation_id relation) override {
    if (partitioned_.rows_elsewhere(relation) != 0) return {};
    if constexpr (Machine::abilities.device_columns) {
      return shared_.machine.device_columns(shared_.relation_of(relation));
    } else {
      return {};
    }
  }
  void read_pairs([[maybe_unused]] relation_id relation, [[maybe_unused]] std::uint64_t first,
                  [[maybe_unused]] std::uint64_t n, [[maybe_unused]] word* const* columns) const override {
    if constexpr (Machine::abilities.equivalences) {
      shared_.relation_of(relation).as_equivalence()->read_pairs(true, true, first, n, columns[0], columns[1]);
    } else {
      executor::read_pairs(relation, first, n, columns);
    }
  }
  [[nodiscard]] bool has_freed(relation_id relation) const override { return shared_.uses.has_freed(relation); }
  [[nodiscard]] std::uint64_t rows(relation_id relation) const override {
    const bool loses_tuples = shared_.program.relations[relation.value].loses_tuples;
    if (loses_tuples) return shared_.tuples_of(relation);
    return shared_.relation_of(relation).rows() + partitioned_.rows_elsewhere(relation);
  }
  [[nodiscard]] std::vector<key_search> key_searches([[maybe_unused]] relation_id relation) const override {
    std::vector<key_search> found;
    if constexpr (Machine::abilities.row_matrices && !Machine::abilities.matrix_views) {
      const storage::row_matrix* const matrix = shared_.relation_of(relation).matrix();
      if (matrix == nullptr) return found;
      for (const auto& columns : {matrix->source_columns(), matrix->target_columns()}) {
        const auto keys = static_cast<double>(std::max<std::uint64_t>(matrix->values_of(columns.front()).count, 1));
        found.push_back({columns, static_cast<double>(matrix->rows()) / keys});
        std::sort(found.back().columns.begin(), found.back().columns.end());
      }
    }
    return found;
  }
  [[nodiscard]] std::vector<storage::sampled_rows> sample(const std::vector<relation_id>& relations,
                                                          std::uint64_t wanted) override {
    std::vector<storage::sampled_columns> sources;
    for (const relation_id relation : relations) {
      const relation_type& source = shared_.relation_of(relation);
      storage::sampled_columns& taken = sources.emplace_back();
      if constexpr (Machine::abilities.row_matrices) {
        if (source.matrix() != nullptr) continue;  // would materialize the rows
      }
      shared_.need_columns(relation);
      if (shared_.program.relations[relation.value].is_equivalence || source.rows() == 0) continue;
      taken.rows = source.rows();
      for (std::uint32_t column = 0; column < source.arity(); ++column) taken.columns.push_back(source.column(column));
    }
    return shared_.machine.sample_rows(sources, wanted);
  }
  [[nodiscard]] const statistics& figures() override {
    figures_.memory_bytes = shared_.resource.used();
    figures_.peak_memory_bytes = shared_.resource.peak();
    figures_.allocations = shared_.resource.allocations();
    return figures_;
  }

 private:
  using relation_type = typename Machine::relation;
  /// Whether tuples can be searched and erased.
  static constexpr bool can_erase = requires(const relation_type& searched, const word* const* values) {
    searched.find(values, 0U);
  };

  /// Begins a stratum that each rank evaluates on its parts of the relations.
  /// @return nullptr if the stratum is not partitioned
  [[nodiscard]] division* begin_partition(std::size_t number, bool resumes, partition_need need) {
    division* const joined = stops_->shared_by;
    if (joined != nullptr) return joined->is_partitioned() ? joined : nullptr;
    if (resumes || !may_share(shared_, stops_)) return nullptr;
    return shared_.chosen.divider->partition(*this, shared_.program, number, partitioned_.here, need);
  }
  void end_share() {
    set_division<Machine>(shared_, nullptr);
    shared_.chosen.strip_counters = strip_counters_;
  }
  [[nodiscard]] std::vector<std::uint64_t> rows_here(const plan::stratum& stratum) const {
    std::vector<std::uint64_t> rows;
    for (const relation_id relation : stratum.relations) rows.push_back(shared_.relation_of(relation).rows());
    return rows;
  }

  /// Returns the columns with erased rows.
  [[nodiscard]] std::vector<const word*> all_columns(relation_id relation) {
    std::vector<const word*> columns;
    if (partitioned_.rows_elsewhere(relation) != 0) {
      shared_.guarded({"writing out", relation, nullptr}, [&] { columns = partitioned_.columns(relation); });
      return columns;
    }
    shared_.guarded({"writing out", relation, nullptr},
                    [&] { columns = shared_.machine.host_columns(shared_.relation_of(relation)); });
    return columns;
  }

  /// Runs the rest of a stratum, to its end or until the recursion is stopped.
  std::optional<stopped_recursion> run_part(std::size_t number, const stopped_recursion* from) {
    const struct restored_stop {
      const std::atomic<bool>*& place;
      const std::atomic<bool>* before;
      ~restored_stop() { place = before; }
    } restored{shared_.chosen.stop, shared_.chosen.stop};
    if (stops_->now != nullptr) shared_.chosen.stop = stops_->now;
    std::vector<std::uint64_t> deltas;
    if (from != nullptr) deltas = from->deltas;
    if (evaluate_stratum(number, from != nullptr, deltas) == strategy_outcome::stopped)
      return stopped_recursion{std::move(deltas)};
    shared_.next_stratum = number + 1;
    return std::nullopt;
  }

  /// @param resumes whether the relations are those of a stopped recursion
  strategy_outcome evaluate_stratum(std::size_t number, bool resumes, std::vector<std::uint64_t>& deltas) {
    const plan::stratum& stratum = shared_.program.strata[number];
    if (!stratum.once.versions.empty() || stratum.recursive) shared_.check_stop();
    const partition_need none = partition_need::none;
    division* partition = begin_partition(number, resumes, none);
    if (partition == nullptr && partitioned_.gather(stratum)) partition = begin_partition(number, resumes, none);
    if (partition == nullptr) {
      const bool begins_empty = std::all_of(stratum.relations.begin(), stratum.relations.end(),
                                            [this](relation_id relation) { return rows(relation) == 0; });
      try {
        return evaluate(number, resumes, deltas, nullptr);
      } catch (const memory_fault&) {
        if (resumes || !begins_empty || !may_share(shared_, stops_)) throw;
        for (const relation_id relation : stratum.relations) release(relation);
        partition = begin_partition(number, resumes, partition_need::memory);
        if (partition == nullptr) throw;
      }
      figures_.strata.pop_back();
      deltas.clear();
    }
    try {
      return evaluate(number, resumes, deltas, partition);
    } catch (...) {
      const std::exception_ptr failure = partition->fail();
      end_share();
      std::rethrow_exception(failure);
    }
  }

  /// @param partition nullptr: the stratum is not partitioned
  strategy_outcome evaluate(std::size_t number, bool resumes, std::vector<std::uint64_t>& deltas, division* partition) {
    const plan::stratum& stratum = shared_.program.strata[number];
    stratum_statistics& figures = figures_.strata.emplace_back();
    const machine_phases before = phases_of_machine();
    const double start = storage::seconds_now();
    const typename Machine::trace_range traced(name_of(stratum));
    for_each_version(stratum, [&](const plan::rule_version& version) { shared_.require_kind_of(version.head); });
    figures.is_complete = false;
    figures.begin = start;
    shared_.running = number;
    matrix_reads<Machine>(shared_).prepare(stratum, number);
    figures.materialize_seconds = storage::seconds_now() - start;

    iteration_ = 0;
    if (shared_.chosen.monitor != nullptr) shared_.chosen.monitor->begin_stratum(number, &iteration_);
    const pipeline_context context = {shared_.program, shared_.places, shared_.chosen,
                                      symbols_,        counter(),      &iteration_};
    if (partition != nullptr) {
      set_division(shared_, partition);
      shared_.chosen.strip_counters = nullptr;  // other ranks are busy
    }
    if (partition == nullptr && stops_->shared_by != nullptr) set_division(shared_, stops_->shared_by);
    // Each version is bound once; the relations that it reads and writes do not move.
    std::vector<std::vector<running_version>> phases;
    const auto bind = [&](const plan::phase& bound) {
      phases.push_back(
          bind_versions(shared_, context, bound.versions, stratum.relations, figures, figures.versions.size()));
    };
    bind(stratum.once);
    for (const auto& phase : stratum.loop) bind(phase);
    if (stratum.recursive) skip_unread(stratum.supplementary, phases);
    charge_other_indexes(stratum, figures);
    subsumptions_on<Machine> subsumptions(shared_.machine, context, stratum, shared_.relations, figures);
    stratum_run<Machine> run = {.shared = shared_,
                                .number = number,
                                .stratum = stratum,
                                .figures = figures,
                                .phases = std::move(phases),
                                .subsumptions = std::move(subsumptions),
                                .start = start,
                                .resumes = resumes,
                                .deltas = deltas,
                                .stops = stops_,
                                .iteration = iteration_,
                                .context = context,
                                .executor = this,
                                .division = partition == nullptr ? stops_->shared_by : nullptr};
    std::size_t next = 0;
    for (auto& versions : run.phases) {
      for (auto& version : versions) version.figures = &figures.versions[next++];
    }

    strategy_outcome outcome = strategy_outcome::done;
    try {
      outcome = run_strategies(run);
      if (division* const together = partition != nullptr ? partition : run.division)
        together->finish(rows_here(stratum));
    } catch (...) {
      const std::exception_ptr failure = run.division != nullptr ? run.division->fail() : std::current_exception();
      end_share();
      std::rethrow_exception(failure);
    }
    end_share();
    if constexpr (Machine::abilities.rows) shared_.machine.forget_rows();
    if (outcome != strategy_outcome::stopped) complete_stratum(number, figures);
    if constexpr (Machine::abilities.own_clock) take_phases(before, figures);
    figures.seconds = storage::seconds_now() - start;
    figures.join_seconds = std::min(figures.join_seconds, figures.seconds);  // short steps are estimated
    figures.is_complete = true;
    if (shared_.chosen.monitor != nullptr) shared_.chosen.monitor->end_stratum();
    return outcome;
  }

  strategy_outcome run_strategies(stratum_run<Machine>& run) {
    if (run.resumes) return run_first(loop_strategies<Machine>, run);
    run_first(once_strategies<Machine>, run);
    begin_loop(run);
    if (!run.stratum.recursive || run.is_complete) return strategy_outcome::done;
    return run_first(loop_strategies<Machine>, run);
  }

  /// Runs the first strategy that accepts the stratum.
  template <std::size_t Count>
  static strategy_outcome run_first(const stratum_strategy<Machine> (&strategies)[Count], stratum_run<Machine>& run) {
    for (const stratum_strategy<Machine>& one : strategies) {
      if (run.resumes && !one.resumes) continue;
      const strategy_outcome outcome = one.run(run);
      if (outcome == strategy_outcome::left) continue;
      run.figures.strategies.emplace_back(run.schedule.empty() ? one.name : std::exchange(run.schedule, {}));
      if (run.shared.share) run.figures.strategies.back() += " on all ranks";
      return outcome;
    }
    throw internal_error("no strategy runs a stratum");
  }

  /// Makes the tuples from before the loop the first delta, or completes the relations.
  void begin_loop(stratum_run<Machine>& run) {
    const plan::stratum& stratum = run.stratum;
    if (!stratum.subsumptions.empty()) {
      for (relation_id relation : stratum.relations) shared_.relation_of(relation).complete();
      run.subsume([&stratum](auto& runner) { runner.purge(!stratum.recursive); });
    }
    if (stratum.recursive) {
      shared_.use_priority_delta(stratum, shared_.chosen.cut.priority_rows * shared_.chosen.threads);
    }
    for (relation_id relation : stratum.relations) {
      if (stratum.recursive) {
        shared_.relation_of(relation).restart();
      } else {
        shared_.relation_of(relation).complete();
      }
    }
  }

  [[nodiscard]] static std::string set_of([[maybe_unused]] const relation_type& asked) {
    if constexpr (Machine::abilities.set_kinds) {
      return asked.set_name();
    } else {
      return "hisa";
    }
  }

  void complete_stratum(std::size_t number, stratum_statistics& figures) {
    const plan::stratum& stratum = shared_.program.strata[number];
    const double clearing = storage::seconds_now();
    for (relation_id relation : stratum.relations) {
      shared_.relation_of(relation).complete();
      figures.relations.push_back({relation, 0, 0, {}, set_of(shared_.relation_of(relation))});
    }
    for (index_statistics& index : figures.indexes) {
      const index_place place = shared_.places[index.index.value];
      if (index.refreshes != 0) index.bytes = shared_.relation_of(place.relation).index(place.number).bytes();
    }
    shared_.free_what_is_done(number);
    for (relation_statistics& filled : figures.relations) {
      const auto& done = shared_.relation_of(filled.relation);
      filled.rows = done.rows() + partitioned_.rows_elsewhere(filled.relation);
      filled.bytes = done.bytes();
      filled.phases = done.times();
    }
    for (const relation_id unread : shared_.uses.take_unread(number)) release(unread);
    figures.clear_seconds += storage::seconds_now() - clearing;
  }

  /// Charges indexes that no version searches: an index of a decomposed stratum counts for the first rule of the loop.
  static void charge_other_indexes(const plan::stratum& stratum, stratum_statistics& figures) {
    if (stratum.rows) {
      for (const row_step& step : stratum.rows->steps) {
        if (step.index.valid()) figures.of_index(step.index, stratum.once.versions.size());
      }
    }
    for (std::size_t i = 0; i < stratum.subsumptions.size(); ++i) {
      for (const std::uint32_t index : indexes_read({stratum.subsumptions[i]}))
        figures.of_index(index_id(index), figures.versions.size() + i);
    }
  }

  [[nodiscard]] std::string name_of(const plan::stratum& stratum) const {
    std::string name = "stratum";
    for (relation_id relation : stratum.relations) name += " " + shared_.program.relations[relation.value].name;
    return name;
  }

  [[nodiscard]] std::atomic<wide_word>* counter() {
    return shared_.chosen.counter == nullptr ? &counter_ : shared_.chosen.counter;
  }

  [[nodiscard]] machine_phases phases_of_machine() {
    if constexpr (Machine::abilities.own_clock) {
      return shared_.machine.phases();
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
    // The time of each index is not measured.
    for (index_statistics& index : figures.indexes) index.is_timed = false;
    figures.allocation_seconds = now.allocation - before.allocation;
  }

  plan_relations<Machine> shared_;
  storage::symbol_table* symbols_;
  kernels::strip_counters* strip_counters_;
  std::atomic<wide_word> counter_ = 0;    ///< counter of autoinc()
  word iteration_ = 0;                    ///< value of recursive_iteration_cnt()
  const stratum_stops* stops_ = nullptr;  ///< consulted by the running stratum; nullptr: never stop
  statistics figures_;
  erased_tuples erased_;
  partitioned_relations<Machine> partitioned_;
};

}  // namespace gpulog::exec
