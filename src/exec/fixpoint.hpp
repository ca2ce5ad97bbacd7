#pragma once

#include <algorithm>
#include <atomic>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "exec/executor.hpp"
#include "exec/iteration_runner.hpp"
#include "exec/last_uses.hpp"
#include "exec/pipeline_builder.hpp"
#include "exec/plan_tasks.hpp"
#include "exec/reads.hpp"
#include "exec/stratum_subsumptions.hpp"
#include "kernels/decomposed_task.hpp"
#include "kernels/functor_table.hpp"
#include "kernels/host_steps.hpp"
#include "kernels/numbered_task.hpp"
#include "kernels/pipeline.hpp"
#include "kernels/row_task.hpp"
#include "support/error.hpp"

namespace gpulog::exec {

/// What a run of a pipeline did.
struct pipeline_counts {
  std::uint64_t candidates = 0;
  std::uint64_t fresh = 0;
};

/// A version of a phase, for a machine that runs several at a time.
struct phase_version {
  const kernels::pipeline* program;
  std::uint64_t rows;          ///< that its first expansion reads, not 0
  double expected_candidates;  ///< going by its last run
  enum class outcome : std::uint8_t { left, done, fault } state = outcome::left;
  pipeline_counts counts;
};

/// Seconds of the phases that a machine measures itself, where the host's clock sees only how work is handed out.
struct machine_phases {
  double join = 0;
  double populate_delta = 0;
  double merge = 0;
  double index = 0;
  double allocation = 0;
};

/// Semi-naive evaluation of a plan, stratum by stratum. In each iteration: the rule versions of each phase (join), then
/// settle (`hisa`: populate delta and merge), advance (clear new) and refresh the indexes that the loop reads.
///
/// Machine is where it runs: its `relation` has the interface of storage::relation, and it can make one, load rows,
/// settle, index, run a pipeline and show rows to the host (exec/cpu_machine.hpp); if it has `phases()`, those count,
/// if it has `run_together()`, it is first given all versions of a phase, and if it has `make_iteration_runner()`, all
/// iterations of a stratum.
template <class Machine>
class fixpoint_executor final : public stratum_executor {
 public:
  template <class... Arguments>
  fixpoint_executor(const plan::program& program, storage::symbol_table& symbols, backend::memory_resource& resource,
                    const options& chosen, Arguments&&... machine)
      : machine_(std::forward<Arguments>(machine)...),
        plan_(&program),
        symbols_(&symbols),
        resource_(&resource),
        options_(chosen),
        places_(place_indexes(program)) {
    relations_.resize(program.relations.size());
    for (std::uint32_t r = 0; r < program.relations.size(); ++r) make_relation(relation_id(r));
    last_uses_ = find_last_uses(program, chosen.may_run, Machine::makes_other_searches);
    last_version_.assign(program.relations.size(), nullptr);
  }

  void load(relation_id relation, const std::vector<const word*>& columns, std::uint64_t rows) override {
    require_kind_of(relation);
    relation_type& target = relation_of(relation);
    const fault_context context{"loading", relation, nullptr};
    guarded(context, [&] {
      machine_.load_rows(target, columns, rows);
      machine_.settle(target);
      target.complete();
    });
  }

  void evaluate() override {
    load_facts(*this, *plan_, options_.wide);
    for (std::size_t s = 0; s < plan_->strata.size(); ++s) run_stratum(s);
  }

  void adopt(relation_id relation, const std::vector<const word*>& columns, std::uint64_t rows) override {
    relation_type& target = relation_of(relation);
    const std::size_t last_insertion_or_lookup = last_uses_.set_needed[relation.value];
    guarded({"copying", relation, nullptr}, [&] {
      if (last_insertion_or_lookup == last_uses::never || last_insertion_or_lookup < next_stratum_) {
        machine_.adopt_rows(target, columns, rows);
        return;
      }
      machine_.load_rows(target, columns, rows);
      machine_.settle(target);
      target.complete();
    });
  }

  void release(relation_id relation) override { make_relation(relation); }
  void forget_columns(relation_id relation) override { machine_.forget_host_columns(relation_of(relation)); }

  void run_stratum(std::size_t number) override {
    evaluate_stratum(number);
    next_stratum_ = number + 1;
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
  using relation_type = typename Machine::relation;
  static constexpr bool holds_choices = requires(relation_type & made) {
    made.set_choice_domains(plan::relation().choice_domains);
  };
  static constexpr bool holds_equivalences = requires(relation_type & made) { made.become_equivalence(); };

  using running_subsumptions = typename subsumptions_of<Machine>::type;

  struct running_version {
    const plan::rule_version* planned;
    kernels::pipeline pipeline;
    version_statistics* figures;
    double candidates_per_row = 1;  ///< of its last run
    double seconds_per_row = 0;     ///< of its last run by itself
  };

  struct fault_context {
    const char* doing;
    relation_id relation;
    const plan::rule_version* version;
  };

  [[nodiscard]] relation_type& relation_of(relation_id id) const { return *relations_[id.value]; }

  template <class Action>
  void guarded(const fault_context& context, Action&& action) {
    try {
      action();
    } catch (const backend::memory_exceeded& fault) {
      throw memory_fault(describe(context, fault));
    }
  }

  [[nodiscard]] std::string describe(const fault_context& context, const backend::memory_exceeded& fault) const {
    const relation_type& relation = relation_of(context.relation);
    std::string text = "Out of memory while " + std::string(context.doing) + " relation " +
                       plan_->relations[context.relation.value].name + " (" +
                       std::to_string(relation.rows() + relation.appended_rows()) + " tuples, " +
                       std::to_string(relation.bytes()) + " bytes): " + std::to_string(fault.requested) +
                       " more bytes were needed with " + std::to_string(fault.used) + " bytes in use";
    if (fault.limit != 0) {
      text += ", and the limit is " + std::to_string(fault.limit) + " bytes (raise it with --memory-limit)";
    } else {
      text += ", and the machine has no more";
    }
    if (context.version != nullptr)
      text += "\nin rule:\n" + context.version->text + "\nin file " + context.version->location;
    return text;
  }

  /// A relation of a kind that the machine lacks can be read here, but not loaded or extended.
  void require_kind_of(relation_id id) const {
    if (!holds_choices && !plan_->relations[id.value].choice_domains.empty())
      throw internal_error("a machine without choice-domains is given one");
    if (!holds_equivalences && plan_->relations[id.value].is_equivalence)
      throw internal_error("a machine without equivalence relations is given one");
  }

  /// An empty relation with its indexes, in the place of what was there.
  void make_relation(relation_id id) {
    relations_[id.value] =
        machine_.make_relation(static_cast<std::uint32_t>(plan_->relations[id.value].kinds.size()), options_);
    if constexpr (holds_choices) {
      const auto& domains = plan_->relations[id.value].choice_domains;
      if (!domains.empty()) relation_of(id).set_choice_domains(domains);
    }
    if constexpr (holds_equivalences) {
      if (plan_->relations[id.value].is_equivalence) relation_of(id).become_equivalence();
    }
    if constexpr (subsuming_machine<Machine>) {
      if (loses_rows(id)) prepare_losses(id);
    }
    for (std::size_t i = 0; i < places_.size(); ++i) {
      if (places_[i].relation == id) relation_of(id).add_index(make_layout(plan_->indexes[i], options_.storage));
    }
  }

  [[nodiscard]] bool loses_rows(relation_id id) const {
    return std::any_of(plan_->strata.begin(), plan_->strata.end(), [id](const plan::stratum& stratum) {
      return std::any_of(stratum.subsumptions.begin(), stratum.subsumptions.end(),
                         [id](const plan::subsumption& one) { return one.relation == id; });
    });
  }

  void prepare_losses(relation_id id) {
    const auto& best = plan_->relations[id.value].best;
    if (!best) return relation_of(id).make_erasable();
    if (best->bound) return keep_bounds(id, *best);
    const comparison_op better = best->better;
    const bool larger = better == comparison_op::greater_number || better == comparison_op::greater_unsigned ||
                        better == comparison_op::greater_float;
    relation_of(id).keep_best(best->column, {plan_->relations[id.value].kinds[best->column], larger, nullptr});
  }

  /// Where there is no such tuple set, the relation's stratum is run elsewhere.
  void keep_bounds(relation_id id, const plan::best_of_key& kept) {
    if constexpr (requires(relation_type & made, word(*bound)(word, word)) { made.keep_bounds(0, bound); }) {
      const auto bound = [functors = options_.functors, number = static_cast<word>(*kept.bound)](word first,
                                                                                                 word second) {
        word result = 0;
        functors->call({&number, &first, &second}, 1, &result);
        return result;
      };
      relation_of(id).keep_bounds(kept.column, bound);
    } else {
      relation_of(id).make_erasable();
    }
  }

  /// Whether iterations may go on with the best values alone, while others wait. @param least rows; 0: no more
  void show_best_first([[maybe_unused]] const plan::stratum& stratum, [[maybe_unused]] std::uint64_t least) {
    if constexpr (requires(relation_type & made) { made.show_best_first(least); }) {
      if (!options_.best_first) return;
      for (const relation_id relation : stratum.relations) {
        const auto& best = plan_->relations[relation.value].best;
        if (best && best->any_order && relation_of(relation).keeps_best()) relation_of(relation).show_best_first(least);
      }
    }
  }

  void refresh_index(std::uint32_t index, stratum_statistics& figures) {
    const double start = storage::seconds_now();
    const index_place place = places_[index];
    guarded({"indexing", place.relation, nullptr},
            [&] { machine_.refresh_index(relation_of(place.relation), place.number); });
    figures.index_seconds += storage::seconds_now() - start;
  }

  /// Several at a time where the machine can, and where there is enough to do.
  template <class Indexes>
  void refresh_indexes(const Indexes& indexes, stratum_statistics& figures) {
    if constexpr (requires { machine_.each_at_once(std::size_t{}, [](std::size_t) {}); }) {
      std::vector<std::uint32_t> all;
      std::uint64_t rows = 0;
      for (const std::uint32_t index : indexes) {
        const relation_type& relation = relation_of(places_[index].relation);
        all.push_back(index);
        rows += relation.index(places_[index].number).missing_rows(relation.rows());
      }
      if (all.size() > 1 && static_cast<double>(rows) >= options_.cut.parallel_candidates) {
        const double start = storage::seconds_now();
        machine_.each_at_once(all.size(), [&](std::size_t number) {
          const index_place place = places_[all[number]];
          guarded({"indexing", place.relation, nullptr},
                  [&] { machine_.refresh_index(relation_of(place.relation), place.number); });
        });
        figures.index_seconds += storage::seconds_now() - start;
        return;
      }
    }
    for (const std::uint32_t index : indexes) refresh_index(index, figures);
  }

  std::vector<running_version> prepare(const std::vector<plan::rule_version>& versions,
                                       const std::vector<relation_id>& changing, stratum_statistics& figures) {
    std::vector<running_version> running;
    for (const auto& version : versions) {
      version_statistics& own = figures.versions.emplace_back();
      own.rule = version.rule;
      own.delta_atom = version.delta_atom;
      own.text = version.text;
      running.push_back(
          {&version,
           build_pipeline(version, *plan_, places_, options_.storage, {symbols_, options_.records, options_.wide},
                          Machine::leaves_steps_to_host, Machine::makes_other_searches),
           nullptr});
      running.back().pipeline.counter = options_.counter == nullptr ? &counter_ : options_.counter;
      running.back().pipeline.iteration = &iteration_;
      running.back().pipeline.functors = options_.functors;
      if constexpr (requires(kernels::pipeline & made) { machine_.remember_folds(made); }) {
        if (folds_the_same(version, changing)) machine_.remember_folds(running.back().pipeline);
      }
    }
    return running;
  }

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

  static constexpr const char* arithmetic_exception = "Floating-point arithmetic exception signal";
  static std::string describe(const char* fault, const plan::rule_version& faulty) {
    return fault + (" in rule:\n" + faulty.text) + "\nin file " + faulty.location;
  }

  void evaluate_stratum(std::size_t number) {
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
    std::atomic<wide_word>* const counter = options_.counter == nullptr ? &counter_ : options_.counter;
    iteration_ = 0;
    const pipeline_context context{*plan_, places_, options_, symbols_, counter, &iteration_};
    running_subsumptions subsumptions(machine_, context, stratum, relations_, figures);
    std::size_t next = 0;
    for (auto& versions : phases) {
      for (auto& version : versions) version.figures = &figures.versions[next++];
    }

    const bool falls_apart = options_.decompose && stratum.decomposed.has_value();
    if (!run_rows(number, phases[0], figures)) {
      skip_sets(stratum);
      if (!falls_apart) choose_sets(stratum);
      refresh_indexes(indexes_read(stratum.once.versions, Machine::makes_other_searches), figures);
      run_phase(phases[0], figures);
      for (relation_id relation : stratum.relations) settle(relation, figures);
    }
    if (!stratum.subsumptions.empty()) {
      for (relation_id relation : stratum.relations) relation_of(relation).complete();
      subsume(stratum, subsumptions, figures, [&stratum](auto& runner) { runner.purge(!stratum.recursive); });
    }
    if (stratum.recursive) show_best_first(stratum, options_.cut.best_first_rows * options_.threads);
    for (relation_id relation : stratum.relations) {
      if (stratum.recursive) {
        relation_of(relation).restart();
      } else {
        relation_of(relation).complete();
      }
    }
    if (stratum.recursive && !run_decomposed(number, phases, figures)) {
      if (falls_apart) choose_sets(stratum);
      run_loop(number, phases, subsumptions, figures, start);
    }

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
    if constexpr (measures_phases) take_phases(before, figures);
    figures.seconds = storage::seconds_now() - start;
  }

  static constexpr bool chooses_sets = requires(relation_type & made) { made.bound_values({}, 0); };

  [[nodiscard]] static std::string set_of([[maybe_unused]] const relation_type& asked) {
    if constexpr (chooses_sets) {
      return asked.set_name();
    } else {
      return "hisa";
    }
  }

  /// Where the plan says that no set is needed: that holds for what the rules derive, and rows that were loaded may be
  /// among it. The published way always deduplicates.
  void skip_sets([[maybe_unused]] const plan::stratum& stratum) {
    if constexpr (requires(relation_type & made) { made.skip_set(); }) {
      if (options_.storage == storage::storage_mode::hisa) return;
      for (const relation_id id : stratum.relations) {
        if (!plan_->relations[id.value].needs_set && relation_of(id).rows() == 0) relation_of(id).skip_set();
      }
    }
  }

  /// Tells the relations of a stratum how large the values are that its rules can give them, where that is known.
  void choose_sets([[maybe_unused]] const plan::stratum& stratum) {
    if constexpr (chooses_sets) {
      using storage::set_choice;
      if (options_.storage == storage::storage_mode::hisa || options_.sets == set_choice::hash) return;
      std::set<plan::column_place> sources;
      for (const plan::relation_domain& domain : stratum.domains) {
        for (const plan::column_domain& column : domain.columns)
          sources.insert(column.sources.begin(), column.sources.end());
      }
      std::uint64_t rows = 0;
      for (const plan::column_place& source : sources) rows = std::max(rows, relation_of(source.relation).rows());
      if (options_.sets == set_choice::automatic && rows < options_.cut.bounded_rows) return;
      find_largest_values({sources.begin(), sources.end()});
      const std::uint64_t memory = resource_->limit() != 0 ? resource_->limit() : machine_.machine_bytes();
      std::map<plan::column_place, word> known;
      for (const plan::relation_domain& domain : stratum.domains) {
        std::vector<std::uint64_t> bounds;
        for (const plan::column_domain& column : domain.columns) {
          // With words of 64 bits, constants that are not their own codes have larger ones than any other value.
          word largest = static_cast<word>(std::min<wide_word>(column.largest_constant, UINT32_MAX));
          for (const plan::column_place& source : column.sources) largest = std::max(largest, largest_[source]);
          known[{domain.relation, static_cast<std::uint32_t>(bounds.size())}] = largest;
          bounds.push_back(largest + 1ULL);
        }
        guarded({"extending", domain.relation, nullptr},
                [&] { relation_of(domain.relation).bound_values(bounds, memory); });
      }
      // Of columns that the stratum extends, what they had before it is no longer all.
      for (relation_id relation : stratum.relations) {
        largest_.erase(largest_.lower_bound({relation, 0}), largest_.upper_bound({relation, UINT32_MAX}));
      }
      largest_.insert(known.begin(), known.end());
    }
  }

  /// Of columns that are complete, or hold what they had before their stratum begins.
  void find_largest_values(const std::vector<plan::column_place>& columns) {
    std::vector<plan::column_place> unknown;
    std::vector<typename Machine::column_values> parts;
    for (const plan::column_place& column : columns) {
      if (largest_.contains(column)) continue;
      const relation_type& source = relation_of(column.relation);
      unknown.push_back(column);
      parts.push_back({source.rows() == 0 ? nullptr : source.column(column.column), source.rows()});
    }
    if (unknown.empty()) return;
    const std::vector<word> largest = machine_.largest_values(parts);
    for (std::size_t i = 0; i < unknown.size(); ++i) largest_[unknown[i]] = largest[i];
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
    const bool published = options_.storage == storage::storage_mode::hisa;
    if (!options_.decompose || published || !stratum.decomposed) return false;
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

  [[nodiscard]] std::uint64_t rows_of(const plan::stratum& stratum) const {
    std::uint64_t rows = 0;
    for (const relation_id relation : stratum.relations) rows += relation_of(relation).rows();
    return rows;
  }

  /// With bitmaps of values as they are. @return nothing, and nothing is done, where they are tuples, or too large
  std::optional<kernels::decomposed_counts> search_values(const plan::decomposition& planned,
                                                          stratum_statistics& figures) {
    if (!planned.is_binary()) return std::nullopt;
    const relation_id target = planned.members.front().relation;
    std::set<plan::column_place> places = {{target, planned.members.front().nodes.front()}};
    kernels::decomposed_task task;
    task.target = target.value;
    task.pivot = planned.members.front().pivots.front();
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

  /// All values of the columns, as they are now, are below.
  [[nodiscard]] std::uint64_t bound_of(const std::set<plan::column_place>& places) {
    std::vector<typename Machine::column_values> columns;
    for (const plan::column_place& place : places) {
      const relation_type& source = relation_of(place.relation);
      if (source.rows() != 0) columns.push_back({source.column(place.column), source.rows()});
    }
    std::uint64_t bound = 0;
    for (const word largest : machine_.largest_values(columns)) bound = std::max<std::uint64_t>(bound, largest + 1ULL);
    return bound;
  }

  /// What `once` does, for one value of the head's first column at a time. @return whether it was done
  bool run_rows(std::size_t number, std::vector<running_version>& versions, stratum_statistics& figures) {
    const plan::stratum& stratum = plan_->strata[number];
    const bool published = options_.storage == storage::storage_mode::hisa;
    if (options_.rows == row_mode::off || published || !stratum.by_rows) return false;
    const auto& filters = stratum.by_rows->filters;
    if (!std::all_of(filters.begin(), filters.end(),
                     [this](const auto& one) { return compares_words(one, options_.wide); }))
      return false;
    if constexpr (requires(kernels::row_task task, kernels::row_cut_offs cut) {
                    machine_.run_rows(task, relations_, cut, options_.stop);
                  }) {
      const relation_id target = stratum.relations.front();
      if (relation_of(target).rows() != 0) return false;
      // What derives each tuple once has no set to do without.
      if (options_.rows != row_mode::on && !plan_->relations[target.value].needs_set) return false;
      kernels::row_task task = row_task_of(stratum, options_.wide);
      task.forced = options_.rows == row_mode::on;
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

  void run_loop(std::size_t number, std::vector<std::vector<running_version>>& phases,
                running_subsumptions& subsumptions, stratum_statistics& figures, double start) {
    const plan::stratum& stratum = plan_->strata[number];
    std::set<std::uint32_t> indexes;
    for (const auto& phase : stratum.loop) indexes.merge(indexes_read(phase.versions, Machine::makes_other_searches));
    indexes.merge(indexes_read(stratum.subsumptions));
    refresh_indexes(indexes, figures);
    std::vector<std::uint64_t> deltas;

    const auto any_delta = [&] {
      return std::any_of(stratum.relations.begin(), stratum.relations.end(),
                         [this](relation_id relation) { return relation_of(relation).delta_rows() != 0; });
    };
    const std::unique_ptr<iteration_runner> by_itself = iteration_runner_of(stratum, phases);
    std::size_t phase = 0;  // that the iteration goes on with
    while (phase != 0 || (any_delta() && !limit_reached(stratum))) {
      if (by_itself != nullptr) {
        const std::size_t told = deltas.size();
        phase = run_iterations(*by_itself, phase, phases, indexes, deltas, figures);
        if (deltas.size() > told) tell_progress(number, figures, start);
        if (phase == 0 && !any_delta()) break;
      }
      iteration_ = static_cast<word>(figures.iterations + 1);
      for (std::size_t p = std::exchange(phase, 0); p < stratum.loop.size(); ++p) {
        run_phase(phases[p + 1], figures);
        for (relation_id relation : stratum.loop[p].advance) settle(relation, figures);
        if (p + 1 == stratum.loop.size()) subsume(stratum, subsumptions, figures, [](auto& runner) { runner.step(); });
        for (relation_id relation : stratum.loop[p].advance) relation_of(relation).advance();
        const auto& advanced = stratum.loop[p].advance;
        std::vector<std::uint32_t> due;
        for (std::uint32_t index : indexes) {
          const relation_id owner = places_[index].relation;
          if (std::find(advanced.begin(), advanced.end(), owner) != advanced.end()) due.push_back(index);
        }
        refresh_indexes(due, figures);
      }
      ++figures.iterations;
      deltas.push_back(sum_of(stratum, [](const relation_type& one) { return one.delta_rows(); }));
      tell_progress(number, figures, start);
    }
    show_best_first(stratum, 0);
    subsume(stratum, subsumptions, figures, [](auto& runner) { runner.finish(); });
    const std::uint64_t result = sum_of(stratum, [](const relation_type& one) { return one.rows(); });
    figures.tail_iterations = static_cast<std::uint64_t>(
        std::count_if(deltas.begin(), deltas.end(), [result](std::uint64_t delta) { return delta < result / 100; }));
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
                             std::vector<std::uint64_t>& deltas, stratum_statistics& figures) {
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
      deltas.insert(deltas.end(), done.deltas.begin(), done.deltas.end());
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
    progress now{number, figures.iterations, 0, storage::seconds_now() - start};
    for (relation_id relation : plan_->strata[number].relations) now.tuples += tuples_of(relation);
    options_.on_progress(now);
  }

  /// Over the relations of the program, without those that the planner added.
  template <class Rows>
  [[nodiscard]] std::uint64_t sum_of(const plan::stratum& stratum, const Rows& rows) const {
    std::uint64_t sum = 0;
    for (relation_id relation : stratum.relations) {
      if (!plan_->relations[relation.value].supplementary) sum += rows(relation_of(relation));
    }
    return sum;
  }

  static constexpr bool runs_together =
      requires(Machine & machine, std::vector<phase_version>& versions, kernels::relation_list<relation_type>& all) {
    machine.run_together(versions, all, nullptr);
  };
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

  /// Without rows that a subsumption took away.
  [[nodiscard]] std::uint64_t tuples_of(relation_id id) const {
    if constexpr (subsuming_machine<Machine>) {
      return relation_of(id).tuples();
    } else {
      return relation_of(id).rows();
    }
  }

  /// .limitsize: a soft limit, looked at once an iteration.
  [[nodiscard]] bool limit_reached(const plan::stratum& stratum) const {
    return std::any_of(stratum.relations.begin(), stratum.relations.end(), [this](relation_id relation) {
      const std::uint64_t limit = plan_->relations[relation.value].size_limit;
      return limit != 0 && tuples_of(relation) >= limit;
    });
  }

  void settle(relation_id relation, stratum_statistics& figures) {
    relation_type& target = relation_of(relation);
    const storage::phase_times before = target.times();
    guarded({"deduplicating", relation, last_version_[relation.value]}, [&] { machine_.settle(target); });
    add_phases(target, before, figures);
  }

  static void add_phases(const relation_type& target, const storage::phase_times& before, stratum_statistics& figures) {
    figures.populate_delta_seconds += target.times().populate_delta - before.populate_delta;
    figures.merge_seconds += target.times().merge - before.merge;
  }

  void run_phase(std::vector<running_version>& versions, stratum_statistics& figures) {
    const std::vector<bool> done = run_together(versions, figures);
    for (std::size_t v = 0; v < versions.size(); ++v) {
      running_version& version = versions[v];
      check_stop();
      const std::uint64_t rows = done[v] ? 0 : kernels::input_rows(version.pipeline, relations_);
      if (rows == 0) continue;
      const double start = storage::seconds_now();
      const storage::phase_times before = relations_[version.pipeline.target]->times();
      last_version_[version.planned->head.value] = version.planned;
      const typename Machine::trace_range traced(version.planned->text);
      try {
        guarded({"extending", version.planned->head, version.planned}, [&] { run_version(version, rows); });
      } catch (const kernels::arithmetic_fault&) {
        throw evaluation_fault(describe(arithmetic_exception, *version.planned));
      } catch (const kernels::functor_fault& fault) {
        throw evaluation_fault(describe(fault.what(), *version.planned));
      }
      const double seconds = storage::seconds_now() - start;
      version.figures->seconds += seconds;
      ++version.figures->runs;
      // Where candidates filled their buffer, the join was interrupted to deduplicate them.
      const storage::phase_times& after = relations_[version.pipeline.target]->times();
      figures.join_seconds += seconds - (after.populate_delta - before.populate_delta) - (after.merge - before.merge);
      add_phases(*relations_[version.pipeline.target], before, figures);
    }
  }

  void check_stop() const {
    if (options_.stop != nullptr && options_.stop->load(std::memory_order_relaxed)) throw kernels::interrupted{};
  }

  /// What the machine can run of a phase without waiting in between. @return by version: whether it has been run
  std::vector<bool> run_together([[maybe_unused]] std::vector<running_version>& versions,
                                 [[maybe_unused]] stratum_statistics& figures) {
    std::vector<bool> done(versions.size(), false);
    if constexpr (runs_together) {
      check_stop();
      std::vector<phase_version> running;
      std::vector<std::size_t> numbers;
      for (std::size_t v = 0; v < versions.size(); ++v) {
        const std::uint64_t rows = kernels::input_rows(versions[v].pipeline, relations_);
        if (rows == 0) continue;
        running.push_back({&versions[v].pipeline, rows, expected_candidates(versions[v], rows), {}, {}});
        numbers.push_back(v);
      }
      if (running.empty()) return done;
      const double start = storage::seconds_now();
      const plan::rule_version& first = *versions[numbers.front()].planned;
      const typename Machine::trace_range traced("versions of a phase");
      guarded({"extending", first.head, &first}, [&] { machine_.run_together(running, relations_, options_.stop); });
      const double seconds = storage::seconds_now() - start;
      figures.join_seconds += seconds;
      for (std::size_t i = 0; i < running.size(); ++i) {
        const phase_version& one = running[i];
        running_version& version = versions[numbers[i]];
        if (one.state == phase_version::outcome::fault)
          throw evaluation_fault(describe(arithmetic_exception, *version.planned));
        // Where one ends and the next begins, nobody asked.
        version.figures->seconds += seconds / static_cast<double>(running.size());
        if (one.state == phase_version::outcome::left) continue;
        done[numbers[i]] = true;
        last_version_[version.planned->head.value] = version.planned;
        ++version.figures->runs;
        count(version, one.counts, one.rows);
      }
    }
    return done;
  }

  static void count(running_version& version, const pipeline_counts& counts, std::uint64_t rows) {
    version.figures->candidates += counts.candidates;
    version.figures->tuples += counts.fresh;
    version.candidates_per_row = std::max(1.0, static_cast<double>(counts.candidates) / static_cast<double>(rows));
  }

  void run_version(running_version& version, std::uint64_t rows) {
    const double expected = expected_candidates(version, rows);
    const double start = storage::seconds_now();
    const pipeline_counts counts = machine_.run(version.pipeline, relations_, rows, expected, options_.stop);
    version.seconds_per_row = (storage::seconds_now() - start) / static_cast<double>(rows);
    count(version, counts, rows);
  }

  /// Going by the last run: by its time as well, where the machine knows how many candidates that stands for.
  [[nodiscard]] static double expected_candidates(const running_version& version, std::uint64_t rows) {
    double per_row = version.candidates_per_row;
    if constexpr (requires { Machine::candidates_a_second; })
      per_row = std::max(per_row, version.seconds_per_row * Machine::candidates_a_second);
    return per_row * static_cast<double>(rows);
  }

  void free_what_is_done(std::size_t number) {
    for (std::size_t i = 0; i < last_uses_.index.size(); ++i) {
      if (last_uses_.index[i] != number) continue;
      const index_place place = places_[i];
      relation_of(place.relation).drop_index(place.number);
    }
    for (std::size_t r = 0; r < last_uses_.set.size(); ++r) {
      if (last_uses_.set[r] == number && is_complete_after(*plan_, number, relation_id(static_cast<std::uint32_t>(r))))
        relations_[r]->drop_set();
    }
  }

  std::atomic<wide_word> counter_ = 0;  ///< of autoinc()
  word iteration_ = 0;                  ///< of recursive_iteration_cnt()
  Machine machine_;
  const plan::program* plan_;
  storage::symbol_table* symbols_;
  backend::memory_resource* resource_;
  options options_;
  std::vector<index_place> places_;  // by index_id
  kernels::relation_list<relation_type> relations_;
  last_uses last_uses_;
  std::map<plan::column_place, word> largest_;  ///< of columns, where known
  std::size_t next_stratum_ = 0;
  /// By relation_id: the version that extended it last, for messages; nullptr: none did.
  std::vector<const plan::rule_version*> last_version_;
  statistics figures_;
};

}  // namespace gpulog::exec
