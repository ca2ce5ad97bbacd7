#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <map>
#include <numeric>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "exec/calibration.hpp"
#include "exec/executor.hpp"
#include "exec/fixpoint/fault_context.hpp"
#include "exec/fixpoint/index_places.hpp"
#include "exec/fixpoint/last_uses.hpp"
#include "exec/fixpoint/losing_relations.hpp"
#include "exec/fixpoint/machine.hpp"
#include "exec/fixpoint/step_clock.hpp"
#include "exec/fixpoint/stratum_subsumptions.hpp"
#include "kernels/join/pipeline.hpp"
#include "kernels/steps/functor_table.hpp"
#include "plan/reads.hpp"
#include "support/error.hpp"

namespace gpulog::exec {

/// The relations of a plan on a machine, with sets and indexes: creates, fills and measures relations, and frees sets
/// and indexes after the last stratum that needs the structure. A fixpoint and the strategies of the fixpoint share one
/// object.
template <class Machine>
class plan_relations {
 public:
  using relation_type = typename Machine::relation;
  static constexpr machine_abilities can = Machine::abilities;

  template <class... Arguments>
  plan_relations(const plan::program& planned, backend::memory_resource& memory, const options& chosen_options,
                 Arguments&&... of_machine)
      : machine(std::forward<Arguments>(of_machine)...),
        program(planned),
        resource(memory),
        chosen(chosen_options),
        places(place_indexes(planned)),
        uses(find_last_uses(planned, chosen_options, Machine::makes_other_searches)),
        last_version(planned.relations.size(), nullptr) {
    relations.resize(program.relations.size());
    indexes_of_.resize(program.relations.size());
    note_indexes(0);
    for (const plan::stratum& stratum : program.strata) {
      for (const plan::subsumption& one : stratum.subsumptions) losing_.insert(one.relation);
    }
    for (std::uint32_t r = 0; r < program.relations.size(); ++r) make_relation(relation_id(r));
  }
  ~plan_relations() = default;
  plan_relations(const plan_relations&) = delete;
  plan_relations& operator=(const plan_relations&) = delete;

  [[nodiscard]] relation_type& relation_of(relation_id id) const { return *relations[id.value]; }

  /// What observers see of an action.
  struct watched_work {
    std::uint64_t rows = 0;  ///< rows of the first expansion; 0: unknown
    bool is_long = true;     ///< false: too short to observe
  };

  /// Runs an action that may fail.
  template <class Action>
  void guarded(const fault_context& context, Action&& action, const watched_work& work = {}) {
    watched(
        context, [&] { described(context, action); }, work);
  }
  /// Runs an action that may run out of memory without failing the run.
  template <class Action>
  void watched(const fault_context& context, Action&& action, const watched_work& work = {}) {
    const run_monitor::long_step here(work.is_long ? watch() : nullptr, context.doing, context.relation,
                                      context.version, work.rows);
    try {
      action();
    } catch (const backend::memory_exceeded&) {
      throw;
    } catch (...) {
      note_failure(context);
      throw;
    }
  }
  /// Returns the monitor if threads observe it.
  [[nodiscard]] run_monitor* watch() const { return chosen.is_watched ? chosen.monitor : nullptr; }
  void note_failure(const fault_context& context) const {
    if (chosen.monitor != nullptr) chosen.monitor->note_failure(context.doing, context.relation, context.version);
  }

  /// A relation of an unsupported kind can be read here, but not loaded or extended.
  void require_kind_of(relation_id id) const {
    if (!can.choices && !program.relations[id.value].choice_domains.empty())
      throw internal_error("a machine without choice-domains is given one");
    if (!can.equivalences && program.relations[id.value].is_equivalence)
      throw internal_error("a machine without equivalence relations is given one");
  }

  /// Replaces a relation by an empty relation with its indexes.
  void make_relation(relation_id id) {
    owed_sets.erase(id);
    relations[id.value] =
        machine.make_relation(static_cast<std::uint32_t>(program.relations[id.value].kinds.size()), chosen);
    if constexpr (can.choices) {
      const auto& domains = program.relations[id.value].choice_domains;
      if (!domains.empty()) relation_of(id).set_choice_domains(domains);
    }
    if constexpr (can.equivalences) {
      if (program.relations[id.value].is_equivalence) relation_of(id).become_equivalence();
    }
    if constexpr (can.subsumptions) {
      if (loses_rows(id)) prepare_losses<can.lattices>(relation_of(id), program.relations[id.value], chosen.functors);
    }
    for (const std::uint32_t index : indexes_of_[id.value])
      relation_of(id).add_index(make_layout(program.indexes[index], chosen.storage));
  }

  /// Applies a new plan of a stratum's versions, which may search new indexes, or indexes scheduled for dropping.
  void take_over_plan(std::size_t number) {
    const std::size_t former_size = places.size();
    places = place_indexes(program);
    for (std::size_t i = former_size; i < places.size(); ++i)
      relation_of(places[i].relation).add_index(make_layout(program.indexes[i], chosen.storage));
    note_indexes(former_size);
    const auto note_read = [&](relation_id relation, index_id index, bool) {
      uses.use_rows(relation, number);
      if (index.valid()) uses.use_index(index.value, number);
    };
    for (const relation_id relation : program.strata[number].relations) last_version[relation.value] = nullptr;
    for_each_version(program.strata[number], [&](const plan::rule_version& version) {
      for_each_read(version, note_read, Machine::makes_other_searches);
    });
  }

  void load_relation(relation_id id, const std::vector<const word*>& columns, std::uint64_t rows) {
    relation_type& target = relation_of(id);
    guarded({"loading", id, nullptr}, [&] { fill(target, columns, rows); });
  }

  /// Implements stratum_executor::adopt(). Adds a set only if a later stratum or a later deletion needs the set.
  void adopt_relation(relation_id id, const std::vector<const word*>& columns, std::uint64_t rows, bool lasts = false) {
    relation_type& target = relation_of(id);
    const std::size_t last_insertion_or_lookup = uses.set_needed[id.value];
    guarded({"copying", id, nullptr}, [&] {
      const bool has_set = last_insertion_or_lookup != last_uses::never && last_insertion_or_lookup >= next_stratum;
      if constexpr (requires { target.adopt_erasable(columns, rows, lasts); }) {
        if (program.relations[id.value].loses_tuples) return target.adopt_erasable(columns, rows, lasts);
        if (!has_set) return machine.adopt_rows(target, columns, rows, lasts);
      }
      has_set ? fill(target, columns, rows) : machine.adopt_rows(target, columns, rows);
    });
  }

  /// @param next the next version to run
  /// @throws kernels::interrupted if the run was cancelled
  void check_stop(const plan::rule_version* next = nullptr) const {
    if (chosen.stop == nullptr || !chosen.stop->load(std::memory_order_relaxed)) return;
    note_failure({"extending", next == nullptr ? relation_id() : next->head, next});
    throw kernels::interrupted{};
  }

  /// Returns whether to evaluate exactly as published.
  [[nodiscard]] bool is_published() const { return chosen.storage == storage::storage_mode::hisa; }

  /// Enables the priority delta.
  /// @param least minimum rows per iteration; 0: disables it
  void use_priority_delta([[maybe_unused]] const plan::stratum& stratum, [[maybe_unused]] std::uint64_t least) {
    if constexpr (can.priority_delta) {
      if (!chosen.priority_delta) return;
      for (const relation_id relation : stratum.relations) {
        const auto& best = program.relations[relation.value].best;
        if (best && best->priority_delta && relation_of(relation).keeps_best())
          relation_of(relation).use_priority_delta(least);
      }
    }
  }

  void refresh_index(std::uint32_t index, stratum_statistics& figures) {
    const index_place place = places[index];
    const std::uint64_t rows = rows_to_index(place);
    const bool is_short = can.timed_candidates && rows <= calibration::candidates_of_short_step;
    step_timer& timer = index_timers_[index];
    timer.begin(clock, is_short);
    guarded({"indexing", place.relation, nullptr},
            [&] { machine.refresh_index(relation_of(place.relation), place.number); },
            {.is_long = watch() != nullptr && rows > calibration::least_watched_rows});
    charge_index(index, timer.end(clock, is_short), figures);
  }
  void refresh_index(relation_id relation, std::size_t number, stratum_statistics& figures) {
    refresh_index(indexes_of_[relation.value][number], figures);
  }

  /// Refreshes indexes, several at a time if the machine can and there is enough work.
  template <class Indexes>
  void refresh_indexes(const Indexes& indexes, stratum_statistics& figures) {
    if constexpr (can.several_indexes) {
      std::vector<std::uint32_t> all;
      std::uint64_t rows = 0;
      for (const std::uint32_t index : indexes) {
        const relation_type& relation = relation_of(places[index].relation);
        all.push_back(index);
        rows += relation.index(places[index].number).missing_rows(relation.rows());
      }
      if (all.size() > 1 && static_cast<double>(rows) >= chosen.cut.parallel_candidates) {
        const double start = storage::seconds_now();
        std::vector<double> seconds_of(all.size());
        const fault_context first = {"indexing", places[all.front()].relation, nullptr};
        guarded(first, [&] {
          machine.each_at_once(all.size(), [&](std::size_t number) {
            const index_place place = places[all[number]];
            const double begin = storage::seconds_now();
            described({"indexing", place.relation, nullptr},
                      [&] { machine.refresh_index(relation_of(place.relation), place.number); });
            seconds_of[number] = storage::seconds_now() - begin;
          });
        });
        // Splits the total time by the shares of each index.
        const double seconds = storage::seconds_now() - start;
        const double sum =
            std::max(std::accumulate(seconds_of.begin(), seconds_of.end(), 0.0), std::numeric_limits<double>::min());
        for (std::size_t i = 0; i < all.size(); ++i) charge_index(all[i], seconds * seconds_of[i] / sum, figures);
        return;
      }
    }
    for (const std::uint32_t index : indexes) refresh_index(index, figures);
  }

  void settle(relation_id relation, stratum_statistics& figures) {
    relation_type& target = relation_of(relation);
    const storage::phase_times before = target.times();
    guarded({"deduplicating", relation, last_version[relation.value]}, [&] { machine.settle(target); },
            {.is_long = target.appended_rows() > calibration::least_watched_rows});
    add_phases(target, before, figures);
  }

  static void add_phases(const relation_type& target, const storage::phase_times& before, stratum_statistics& figures) {
    figures.populate_delta_seconds += target.times().populate_delta - before.populate_delta;
    figures.merge_seconds += target.times().merge - before.merge;
  }

  /// Materializes a relation whose columns are read next.
  void need_columns([[maybe_unused]] relation_id id) {
    if constexpr (can.row_matrices) {
      if (relation_of(id).matrix() == nullptr) return;
      guarded({"materializing", id, nullptr}, [&] { machine.materialize(relation_of(id)); });
    }
  }

  /// Returns whether a derived relation needs a tuple set. A kernel with a loop may run a version again, so on a device
  /// a relation of a loop does.
  [[nodiscard]] bool needs_set(relation_id id) const {
    const plan::relation& planned = program.relations[id.value];
    return planned.needs_set && (can.loops || !planned.loops_distinct);
  }
  /// Forgets the rows of relations without a set that the versions of the running phase have appended, because the
  /// versions run again.
  void forget_appended([[maybe_unused]] const plan::phase& phase) {
    if constexpr (can.set_kinds) {
      for (const relation_id id : phase.advance) relation_of(id).forget_appended(0);
    }
  }

  /// Skips sets that the plan does not need. The plan considers only derived rows, but a rule may also derive a loaded
  /// row: a relation with rows keeps the set. The published method always deduplicates.
  /// @param falls_apart whether a recursion may start without sets, which its loop adds (make_sets())
  void skip_sets([[maybe_unused]] const plan::stratum& stratum, [[maybe_unused]] bool falls_apart) {
    if constexpr (can.set_kinds) {
      if (is_published()) return;
      for (const relation_id id : stratum.relations) {
        const plan::relation& planned = program.relations[id.value];
        const bool is_needless = !needs_set(id) || (can.rows && falls_apart && planned.begins_distinct);
        if (is_needless && relation_of(id).rows() == 0) relation_of(id).skip_set();
      }
    }
  }
  /// Adds the sets that a recursion started without. All rows are delta.
  void make_sets([[maybe_unused]] const plan::stratum& stratum) {
    if constexpr (can.set_kinds) {
      for (const relation_id id : stratum.relations) {
        relation_type& member = relation_of(id);
        if (member.has_set() || !needs_set(id)) continue;
        guarded({"indexing", id, nullptr}, [&] { machine.make_set(member); });
        member.restart();
      }
    }
  }

  /// Sets the bounds of the values that the rules of a stratum can produce, where known.
  void choose_sets([[maybe_unused]] const plan::stratum& stratum) {
    if constexpr (can.set_kinds) {
      using storage::set_choice;
      if (is_published() || chosen.sets == set_choice::hash) return;
      std::set<plan::column_place> sources;
      for (const plan::relation_domain& domain : stratum.domains)
        for (const plan::column_domain& column : domain.columns)
          sources.insert(column.sources.begin(), column.sources.end());
      std::uint64_t rows = 0;
      for (const plan::column_place& source : sources) rows = std::max(rows, relation_of(source.relation).rows());
      if (chosen.sets == set_choice::automatic && rows < chosen.cut.bounded_rows) return;
      find_largest_values({sources.begin(), sources.end()});
      const std::uint64_t memory = resource.limit() != 0 ? resource.limit() : machine.machine_bytes();
      std::map<plan::column_place, word> largest_of_stratum;
      for (const plan::relation_domain& domain : stratum.domains) {
        std::vector<std::uint64_t> bounds;
        for (const plan::column_domain& column : domain.columns) {
          // In 64-bit programs, a constant above most_names may have any code above most_names.
          const bool has_code = chosen.wide == nullptr || column.largest_constant <= storage::wide_values::most_names;
          word largest = has_code ? static_cast<word>(column.largest_constant) : UINT32_MAX;
          for (const plan::column_place& source : column.sources) largest = std::max(largest, largest_[source]);
          largest_of_stratum[{domain.relation, static_cast<std::uint32_t>(bounds.size())}] = largest;
          bounds.push_back(largest + 1ULL);
        }
        guarded({"extending", domain.relation, nullptr},
                [&] { relation_of(domain.relation).bound_values(bounds, memory); });
      }
      // The stratum extends relations, so the earlier largest values of the extended relations are outdated.
      for (relation_id relation : stratum.relations) {
        largest_.erase(largest_.lower_bound({relation, 0}), largest_.upper_bound({relation, UINT32_MAX}));
      }
      largest_.insert(largest_of_stratum.begin(), largest_of_stratum.end());
    }
  }

  /// Chooses sets by their values for complete relations in which a stratum looks up tuples.
  void choose_sets_of_asked([[maybe_unused]] const plan::stratum& stratum) {
    if constexpr (can.present_bounds) {
      if (is_published() || chosen.continues || chosen.sets == storage::set_choice::hash) return;
      std::set<relation_id> asked;
      const auto note_read = [&](relation_id id, index_id, bool uses_set) {
        if (uses_set) asked.insert(id);
      };
      for_each_version(stratum, [&](const plan::rule_version& version) {
        for_each_read(version, note_read, Machine::makes_other_searches);
      });
      for (const relation_id id : stratum.relations) asked.erase(id);
      for (const relation_id id : asked) {
        relation_type& target = relation_of(id);
        if (!target.keeps_packed_tuples() || target.rows() < chosen.cut.bounded_rows) continue;
        std::vector<plan::column_place> columns;
        for (std::uint32_t c = 0; c < target.arity(); ++c) columns.push_back({id, c});
        find_largest_values(columns);
        std::vector<std::uint64_t> bounds;
        for (const plan::column_place& column : columns) bounds.push_back(largest_[column] + 1ULL);
        target.bound_present_values(bounds, resource.limit() != 0 ? resource.limit() : machine.machine_bytes());
      }
    }
  }

  /// The columns must be complete, or their stratum not started.
  void find_largest_values(const std::vector<plan::column_place>& columns) {
    std::vector<plan::column_place> unknown;
    std::vector<typename Machine::column_values> parts;
    for (const plan::column_place& column : columns) {
      if (largest_.contains(column)) continue;
      unknown.push_back(column);
      if constexpr (can.row_matrices) {
        if (const auto* const matrix = relation_of(column.relation).matrix()) {
          const auto known = matrix->values_of(column.column);
          if (known.values == nullptr) {
            largest_[column] = known.count == 0 ? 0 : static_cast<word>(known.count - 1);
            unknown.pop_back();
          } else {
            parts.push_back({known.values, known.count});
          }
          continue;
        }
      }
      need_columns(column.relation);
      const relation_type& source = relation_of(column.relation);
      parts.push_back({source.rows() == 0 ? nullptr : source.column(column.column), source.rows()});
    }
    if (unknown.empty()) return;
    const std::vector<word> largest = machine.largest_values(parts);
    for (std::size_t i = 0; i < unknown.size(); ++i) largest_[unknown[i]] = largest[i];
  }

  /// Returns an exclusive bound of the columns' current values.
  [[nodiscard]] std::uint64_t bound_of(const std::set<plan::column_place>& bounded) {
    std::vector<typename Machine::column_values> columns;
    for (const plan::column_place& place : bounded) {
      need_columns(place.relation);
      const relation_type& source = relation_of(place.relation);
      if (source.rows() != 0) columns.push_back({source.column(place.column), source.rows()});
    }
    std::uint64_t bound = 0;
    for (const word largest : machine.largest_values(columns)) bound = std::max<std::uint64_t>(bound, largest + 1ULL);
    return bound;
  }

  [[nodiscard]] std::uint64_t rows_of(const plan::stratum& stratum) const {
    std::uint64_t rows = 0;
    for (const relation_id relation : stratum.relations) rows += relation_of(relation).rows();
    return rows;
  }

  /// Sums over the relations of the program, without relations added by the planner.
  template <class Rows>
  [[nodiscard]] std::uint64_t sum_of(const plan::stratum& stratum, const Rows& rows) const {
    std::uint64_t sum = 0;
    for (relation_id relation : stratum.relations) {
      if (!program.relations[relation.value].supplementary) sum += rows(relation_of(relation));
    }
    return sum;
  }

  /// Returns the number of tuples without rows that subsumption removed.
  [[nodiscard]] std::uint64_t tuples_of(relation_id id) const {
    if constexpr (can.subsumptions) {
      return relation_of(id).tuples();
    } else {
      return relation_of(id).rows();
    }
  }

  /// .limitsize: a soft limit, checked once per iteration.
  [[nodiscard]] bool limit_reached(const plan::stratum& stratum) const {
    return std::any_of(stratum.relations.begin(), stratum.relations.end(), [this](relation_id relation) {
      const std::uint64_t limit = program.relations[relation.value].size_limit;
      return limit != 0 && tuples_of(relation) >= limit;
    });
  }

  void free_what_is_done(std::size_t number) {
    if (chosen.continues) return;
    for (const std::uint32_t i : uses.indexes_of[number]) {
      if (uses.index[i] != number) continue;
      const index_place place = places[i];
      relation_of(place.relation).drop_index(place.number);
    }
    for (const std::uint32_t r : uses.sets_of[number]) relations[r]->drop_set();
  }

  Machine machine;
  step_clock clock;
  const plan::program& program;
  backend::memory_resource& resource;
  options chosen;
  std::vector<index_place> places;  // by index_id
  kernels::relation_list<relation_type> relations;
  last_uses uses;
  std::size_t next_stratum = 0;
  std::size_t running = 0;             ///< the running stratum, or the last one that ran
  bool is_searching = false;           ///< whether the running stratum looks up rows in a matrix
  std::uint64_t late_columns = 0;      ///< number of times that a matrix got columns during its reader's run
  std::optional<stratum_share> share;  ///< of the running stratum at this rank; nothing: rank 0 evaluates the stratum
  const std::atomic<bool>* stop_alone = nullptr;  ///< chosen.stop without the stops of other ranks; only with a share
  std::set<relation_id> owed_sets;                ///< deferred sets of matrices: built together with columns
  /// By relation_id: the last version that extended the relation, for messages; nullptr: none.
  std::vector<const plan::rule_version*> last_version;

 private:
  [[nodiscard]] std::uint64_t rows_to_index(const index_place& place) const {
    const relation_type& relation = relation_of(place.relation);
    if constexpr (can.several_indexes) {
      return relation.index(place.number).missing_rows(relation.rows());
    } else {
      return relation.rows();
    }
  }
  template <class Action>
  void described(const fault_context& context, Action&& action) {
    try {
      action();
    } catch (const backend::memory_exceeded& fault) {
      throw memory_fault(describe_shortage(context, program, relation_of(context.relation), fault, resource));
    }
  }
  void charge_index(std::uint32_t index, double seconds, stratum_statistics& figures) {
    index_statistics& index_figures = figures.of_index(index_id(index));
    ++index_figures.refreshes;
    index_figures.seconds += seconds;
    figures.index_seconds += seconds;
  }

  void note_indexes(std::size_t first) {
    index_timers_.resize(places.size());
    for (std::size_t i = first; i < places.size(); ++i)
      indexes_of_[places[i].relation.value].push_back(static_cast<std::uint32_t>(i));
  }
  [[nodiscard]] bool loses_rows(relation_id id) const {
    return losing_.contains(id) || program.relations[id.value].loses_tuples;
  }

  void fill(relation_type& target, const std::vector<const word*>& columns, std::uint64_t rows) {
    machine.load_rows(target, columns, rows);
    machine.settle(target);
    target.complete();
  }

  std::map<plan::column_place, word> largest_;          ///< of columns, where known
  std::vector<std::vector<std::uint32_t>> indexes_of_;  ///< by relation
  std::vector<step_timer> index_timers_;                ///< by index_id
  std::set<relation_id> losing_;                        ///< relations with subsumption
};

}  // namespace gpulog::exec
