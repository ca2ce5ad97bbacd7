#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "exec/fixpoint/phase_figures.hpp"
#include "exec/fixpoint/pipeline_builder.hpp"
#include "exec/fixpoint/plan_relations.hpp"
#include "exec/fixpoint/plan_tasks.hpp"
#include "kernels/rows/row_task.hpp"
#include "kernels/steps/functor_table.hpp"
#include "kernels/steps/host_steps.hpp"

namespace gpulog::exec {

/// Runs the rule versions of a phase over the relations of a plan, and keeps their figures. If a machine has
/// `run_together()`, it is first given all versions of a phase.
template <class Machine>
class phase_runner : protected plan_relations<Machine> {
 protected:
  using base = plan_relations<Machine>;
  using base::add_phases, base::guarded, base::last_version_, base::machine_, base::options_, base::places_,
      base::plan_, base::relations_;
  using typename base::relation_type;

  struct running_version {
    const plan::rule_version* planned;
    kernels::pipeline pipeline;
    version_statistics* figures;
    double candidates_per_row = 1;  ///< of its last run
    double seconds_per_row = 0;     ///< of its last run by itself
  };

  template <class... Arguments>
  phase_runner(const plan::program& program, storage::symbol_table& symbols, backend::memory_resource& resource,
               const options& chosen, Arguments&&... machine)
      : base(program, resource, chosen, std::forward<Arguments>(machine)...), symbols_(&symbols) {}
  ~phase_runner() = default;

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
      running.back().pipeline.counter = counter();
      running.back().pipeline.iteration = &iteration_;
      running.back().pipeline.functors = options_.functors;
      if constexpr (requires(kernels::pipeline & made) { machine_.remember_folds(made); }) {
        if (folds_the_same(version, changing)) machine_.remember_folds(running.back().pipeline);
        if (windows_stay(running.back().pipeline, changing)) machine_.remember_windows(running.back().pipeline);
      }
    }
    return running;
  }

  /// Whether rows that are read in the order of a column are the same in each run.
  static bool windows_stay(const kernels::pipeline& program, const std::vector<relation_id>& changing) {
    return std::none_of(program.segments.begin(), program.segments.end(), [&changing](const kernels::segment& one) {
      return !one.limits.bounds.empty() &&
             std::find(changing.begin(), changing.end(), relation_id(one.source)) != changing.end();
    });
  }

  /// What pipelines that others bind need of this one.
  [[nodiscard]] pipeline_context context() { return {*plan_, places_, options_, symbols_, counter(), &iteration_}; }

  static constexpr const char* arithmetic_exception = "Floating-point arithmetic exception signal";
  static std::string describe(const char* fault, const plan::rule_version& faulty) {
    return fault + (" in rule:\n" + faulty.text) + "\nin file " + faulty.location;
  }

  void run_phase(std::vector<running_version>& versions, stratum_statistics& figures) {
    std::vector<bool> done = run_by_rows(versions, figures);
    run_together(versions, figures, done);
    for (std::size_t v = 0; v < versions.size(); ++v) {
      running_version& version = versions[v];
      check_stop();
      const std::uint64_t rows = done[v] ? 0 : rows_to_run(version);
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

  /// What was prepared for rows is no longer needed.
  void forget_rows() {
    if constexpr (makes_rows) machine_.forget_rows();
  }

  void check_stop() const {
    if (options_.stop != nullptr && options_.stop->load(std::memory_order_relaxed)) throw kernels::interrupted{};
  }

  word iteration_ = 0;  ///< of recursive_iteration_cnt()

 private:
  [[nodiscard]] std::atomic<wide_word>* counter() { return options_.counter == nullptr ? &counter_ : options_.counter; }

  static constexpr bool runs_together =
      requires(Machine & machine, std::vector<phase_version>& versions, kernels::relation_list<relation_type>& all) {
    machine.run_together(versions, all, nullptr);
  };

  static constexpr bool makes_rows =
      requires(Machine & machine, kernels::row_task task, kernels::relation_list<relation_type>& all) {
    machine.add_rows(task, all, nullptr);
  };

  /// Rows that its first expansion reads; 0 where nothing it finds can be new.
  [[nodiscard]] std::uint64_t rows_to_run(const running_version& version) const {
    if constexpr (requires(const relation_type& target) { target.is_full(); }) {
      if (version.pipeline.ends_when_full() && relations_[version.pipeline.target]->is_full()) return 0;
    }
    return kernels::input_rows(version.pipeline, relations_);
  }

  [[nodiscard]] bool can_be_made_by_rows(const running_version& version) const {
    const plan::rule_version& planned = *version.planned;
    return planned.by_rows && compare_words(planned.by_rows->filters, options_.wide) &&
           (options_.rows == row_mode::always || plan_->relations[planned.head.value].needs_set);
  }

  /// Infinite where it had none.
  [[nodiscard]] static double candidates_by_last_run(const running_version& version, std::uint64_t rows) {
    return version.figures->runs == 0 ? std::numeric_limits<double>::infinity() : expected_candidates(version, rows);
  }

  /// What of a phase is made row by row (plan::version_rows): versions with the same head and the same comparisons
  /// together. @return by version: whether it has been run
  std::vector<bool> run_by_rows([[maybe_unused]] std::vector<running_version>& versions,
                                [[maybe_unused]] stratum_statistics& figures) {
    std::vector<bool> done(versions.size(), false);
    if constexpr (makes_rows) {
      if (base::is_published()) return done;
      std::vector<std::size_t> open;
      double candidates = 0;
      for (std::size_t v = 0; v < versions.size(); ++v) {
        if (!versions[v].planned->by_rows) continue;
        const std::uint64_t rows = kernels::input_rows(versions[v].pipeline, relations_);
        if (rows == 0 || !can_be_made_by_rows(versions[v])) continue;
        open.push_back(v);
        candidates += candidates_by_last_run(versions[v], rows);
      }
      // Of many small versions not even their tasks are made.
      const bool is_small = candidates * kernels::most_growth < Machine::added_rows_pay.least_candidates;
      if (is_small && options_.rows != row_mode::always) return done;
      while (!open.empty()) {
        const plan::rule_version& first = *versions[open.front()].planned;
        const auto others = std::stable_partition(open.begin(), open.end(), [&](std::size_t v) {
          const plan::rule_version& planned = *versions[v].planned;
          return planned.head == first.head && planned.by_rows->filters == first.by_rows->filters;
        });
        make_rows(versions, {open.begin(), others}, figures, done);
        open.erase(open.begin(), others);
      }
    }
    return done;
  }

  void make_rows(std::vector<running_version>& versions, const std::vector<std::size_t>& numbers,
                 stratum_statistics& figures, std::vector<bool>& done) {
    check_stop();
    std::vector<const plan::rule_version*> planned;
    for (const std::size_t v : numbers) planned.push_back(versions[v].planned);
    kernels::row_task task = row_task_of(planned, options_.wide);
    task.forced = options_.rows == row_mode::always;
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      const running_version& version = versions[numbers[i]];
      task.rules[i].last_candidates =
          candidates_by_last_run(version, kernels::input_rows(version.pipeline, relations_));
    }
    relation_type& target = *relations_[task.target];
    const typename Machine::trace_range traced(planned.front()->text);
    const std::uint64_t rows_before = target.appended_rows();
    const double start = storage::seconds_now();
    std::vector<std::optional<std::uint64_t>> candidates(numbers.size());
    try {
      candidates = machine_.add_rows(task, relations_, options_.stop);
    } catch (const backend::memory_exceeded&) {
      // Pipelines need other memory, and say what they lack.
      machine_.forget_rows();
    }
    const double seconds = storage::seconds_now() - start;
    figures.join_seconds += seconds;
    // Which version found a result first, nobody asked.
    std::uint64_t fresh = target.appended_rows() - rows_before;
    const auto made =
        std::count_if(candidates.begin(), candidates.end(), [](const auto& one) { return one.has_value(); });
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      if (!candidates[i]) continue;
      running_version& version = versions[numbers[i]];
      done[numbers[i]] = true;
      last_version_[task.target] = version.planned;
      version.figures->seconds += seconds / static_cast<double>(made);
      ++version.figures->runs;
      ++version.figures->runs_by_rows;
      count(version, {*candidates[i], std::exchange(fresh, 0)}, kernels::input_rows(version.pipeline, relations_));
    }
  }

  /// What the machine can run of a phase without waiting in between.
  /// @param done by version: whether it has been run
  void run_together([[maybe_unused]] std::vector<running_version>& versions,
                    [[maybe_unused]] stratum_statistics& figures, [[maybe_unused]] std::vector<bool>& done) {
    if constexpr (runs_together) {
      check_stop();
      std::vector<phase_version> running;
      std::vector<std::size_t> numbers;
      for (std::size_t v = 0; v < versions.size(); ++v) {
        const std::uint64_t rows = done[v] ? 0 : rows_to_run(versions[v]);
        if (rows == 0) continue;
        running.push_back({&versions[v].pipeline, rows, expected_candidates(versions[v], rows), {}, {}});
        numbers.push_back(v);
      }
      if (running.empty()) return;
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
    const double seconds = storage::seconds_now() - start - seconds_of_any_run;
    version.seconds_per_row = std::max(0.0, seconds) / static_cast<double>(rows);
    count(version, counts, rows);
  }

  /// A run that does nothing takes this long, about: with one row in front of it that is not the row's.
  static constexpr double seconds_of_any_run = 2e-6;

  /// Going by the last run: by its time as well, where the machine knows how many candidates that stands for.
  [[nodiscard]] static double expected_candidates(const running_version& version, std::uint64_t rows) {
    double per_row = version.candidates_per_row;
    if constexpr (requires { Machine::candidates_a_second; })
      per_row = std::max(per_row, version.seconds_per_row * Machine::candidates_a_second);
    return per_row * static_cast<double>(rows);
  }

  storage::symbol_table* symbols_;
  std::atomic<wide_word> counter_ = 0;  ///< of autoinc()
};

}  // namespace gpulog::exec
