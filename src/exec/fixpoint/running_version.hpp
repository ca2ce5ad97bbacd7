#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "exec/calibration.hpp"
#include "exec/fixpoint/phase_figures.hpp"
#include "exec/fixpoint/pipeline_builder.hpp"
#include "exec/fixpoint/plan_relations.hpp"
#include "exec/fixpoint/plan_tasks.hpp"
#include "exec/fixpoint/step_clock.hpp"
#include "exec/fixpoint/stratum_subsumptions.hpp"
#include "exec/ranks/version_share.hpp"
#include "kernels/join/column_tests.hpp"
#include "kernels/steps/functor_table.hpp"
#include "kernels/steps/host_steps.hpp"
#include "plan/reads.hpp"

/// Rule versions while their stratum runs.
namespace gpulog::exec {

struct running_version {
  const plan::rule_version* planned;
  kernels::pipeline pipeline;
  version_statistics* figures;
  double candidates_per_row = 1;  ///< candidates per row in the last run
  double seconds_per_row = 0;     ///< seconds of all workers per row in the last run
  std::uint64_t rows_left = 0;    ///< unread rows of the first expansion in the running phase
  step_timer timer = {};
  std::vector<relation_id> needed = {};  ///< relations without which the version finds no tuples
  /// Whether one of these is complete and empty, so that the version finds no tuples; or the version extends a
  /// supplementary relation that only void versions read.
  bool is_void = false;
  bool runs_elsewhere = false;                   ///< a version that ranks do not divide runs at rank 0 only
  std::optional<relation_id> delta = {};         ///< the relation whose new rows the version reads
  std::vector<kernels::column_test> tests = {};  ///< of the first expansion; empty if steps are counted
  std::shared_ptr<void> kept = nullptr;          ///< the machine's preparation of further runs (abilities.keeps_runs)

  void count(const pipeline_counts& counts, std::uint64_t rows) {
    figures->candidates += counts.candidates;
    figures->tuples += counts.fresh;
    figures->bindings += std::max(counts.bindings, counts.candidates);
    candidates_per_row = std::max(1.0, static_cast<double>(counts.candidates) / static_cast<double>(rows));
  }
  /// @param seconds of all workers of the last run
  void measure(double seconds, std::uint64_t rows) {
    seconds_per_row = std::max(0.0, seconds - calibration::host_run_seconds) / static_cast<double>(rows);
  }
};

using kernels::arithmetic_exception;

inline std::string describe_fault(const char* fault, const plan::rule_version& faulty) {
  return fault + (" in rule:\n" + faulty.text) + "\nin file " + faulty.location;
}

/// Returns whether rows read in the order of a column are the same in each run.
inline bool windows_stay(const kernels::pipeline& program, const std::vector<relation_id>& changing) {
  return std::none_of(program.segments.begin(), program.segments.end(), [&changing](const kernels::segment& one) {
    return !one.limits.bounds.empty() &&
           std::find(changing.begin(), changing.end(), relation_id(one.source)) != changing.end();
  });
}

/// Returns the relation whose delta a version reads, if any.
[[nodiscard]] inline std::optional<relation_id> delta_relation(const plan::rule_version& version) {
  for (const plan::operation& one : version.operations) {
    const auto* const all = std::get_if<plan::scan>(&one);
    if (all != nullptr && all->rows == row_part::delta) return all->relation;
    const auto* const search = std::get_if<plan::match>(&one);
    if (search != nullptr && search->rows == row_part::delta) return search->relation;
    const auto* const test = std::get_if<plan::exists>(&one);
    if (test != nullptr && test->rows == row_part::delta) return test->relation;
  }
  return std::nullopt;
}

/// Returns whether a match may search any of several relations, some of which are matrices and have no indexes.
template <class Machine>
bool chooses_matrix(const plan_relations<Machine>& shared, const plan::rule_version& version) {
  if constexpr (Machine::abilities.row_matrices) {
    const auto is_matrix = [&shared](relation_id id) { return shared.relation_of(id).matrix() != nullptr; };
    return std::any_of(version.operations.begin(), version.operations.end(), [&](const plan::operation& one) {
      const auto* const search = std::get_if<plan::match>(&one);
      if (search == nullptr || search->others.empty()) return false;
      return is_matrix(search->relation) ||
             std::any_of(search->others.begin(), search->others.end(),
                         [&](const plan::other_search& other) { return is_matrix(other.relation); });
    });
  } else {
    return false;
  }
}

[[nodiscard]] inline plan::rule_version without_other_searches(plan::rule_version version) {
  for (plan::operation& one : version.operations) {
    if (auto* const search = std::get_if<plan::match>(&one)) search->others.clear();
  }
  return version;
}

/// Binds versions as pipelines of the machine.
/// @param changing relations that get rows while the stratum runs
/// @param first number of the first version's figures; missing figures are added
template <class Machine>
std::vector<running_version> bind_versions(plan_relations<Machine>& shared, const pipeline_context& context,
                                           const std::vector<plan::rule_version>& versions,
                                           const std::vector<relation_id>& changing, stratum_statistics& figures,
                                           std::size_t first) {
  std::vector<running_version> running;
  for (const auto& version : versions) {
    const std::size_t number = first + running.size();
    if (number == figures.versions.size()) figures.versions.emplace_back();
    version_statistics& version_figures = figures.versions[number];
    version_figures.rule = version.rule;
    version_figures.delta_atom = version.delta_atom;
    version_figures.text = version.text;
    while (version_figures.former.size() < version.former_plans) {
      version_figures.former.push_back(
          {version_figures.runs, version_figures.bindings, version_figures.delta_rows, version_figures.seconds});
    }
    if (version.is_retired || (shared.share && !runs_at(*shared.share, version))) {
      running.push_back({&version, {}, nullptr});
      running.back().runs_elsewhere = !version.is_retired;
      continue;
    }
    std::optional<plan::rule_version> changed;
    if (chooses_matrix(shared, version)) changed = without_other_searches(version);
    bool is_divided = false;
    if (shared.share) {
      if (auto divided = share_of(changed.value_or(version), *shared.share)) {
        changed = std::move(divided);
        is_divided = true;
      }
    }
    // Counted operators are those of the plan.
    const bool counts_steps = context.chosen.counts_steps && !is_divided;
    running.push_back(
        {&version,
         build_pipeline(changed ? *changed : version, context.program, context.places, context.chosen.storage,
                        {context.symbols, context.chosen.records, context.chosen.wide, counts_steps},
                        Machine::leaves_steps_to_host, Machine::makes_other_searches),
         nullptr});
    running_version& bound = running.back();
    bound.delta = delta_relation(version);
    bound.needed = plan::needed_relations(version);
    if (bound.pipeline.counted == nullptr) bound.tests = kernels::first_tests(bound.pipeline);
    bound.is_void = std::any_of(bound.needed.begin(), bound.needed.end(), [&](relation_id read) {
      return std::find(changing.begin(), changing.end(), read) == changing.end() &&
             shared.relation_of(read).rows() == 0;
    });
    version_figures.counted = running.back().pipeline.counted;
    if (version_figures.wraps_around == nullptr)
      version_figures.wraps_around = std::make_shared<std::atomic<bool>>(false);
    running.back().pipeline.wraps_around = version_figures.wraps_around;
    for (const std::uint32_t index : indexes_read({version}, Machine::makes_other_searches))
      figures.of_index(index_id(index), number);
    running.back().pipeline.counter = context.counter;
    running.back().pipeline.iteration = context.iteration;
    running.back().pipeline.functors = context.chosen.functors;
    if constexpr (Machine::abilities.memories) {
      running.back().pipeline.may_remember = running.back().pipeline.has_memory();
      if (folds_the_same(version, changing)) shared.machine.remember_folds(running.back().pipeline);
      if (windows_stay(running.back().pipeline, changing)) shared.machine.remember_windows(running.back().pipeline);
    }
  }
  return running;
}

/// Marks a version as void if the version extends a supplementary relation that only void versions read.
/// @param phases all versions of a stratum
inline void skip_unread(const std::vector<relation_id>& supplementary,
                        std::vector<std::vector<running_version>>& phases) {
  const auto for_each_running = [&phases](const auto& visit) {
    for (auto& versions : phases) {
      for (running_version& version : versions) {
        if (!version.is_void) visit(version);
      }
    }
  };
  bool has_changed = !supplementary.empty();
  while (has_changed) {
    has_changed = false;
    std::set<relation_id> read;
    for_each_running([&read](const running_version& version) {
      plan::for_each_read(
          *version.planned, [&read](relation_id one, index_id, bool) { read.insert(one); }, true);
    });
    for_each_running([&](running_version& version) {
      const relation_id head = version.planned->head;
      const bool is_step = std::find(supplementary.begin(), supplementary.end(), head) != supplementary.end();
      version.is_void = is_step && !read.contains(head);
      has_changed = has_changed || version.is_void;
    });
  }
}

/// Estimates from the last run, also by its time if the machine can convert times to candidates.
template <class Machine>
[[nodiscard]] double expected_candidates(const running_version& version, std::uint64_t rows) {
  double per_row = version.candidates_per_row;
  if constexpr (Machine::abilities.timed_candidates)
    per_row = std::max(per_row, version.seconds_per_row * Machine::candidates_a_second);
  return per_row * static_cast<double>(rows);
}

/// Returns the estimate based on the last run; infinite before the first run.
template <class Machine>
[[nodiscard]] double candidates_by_last_run(const running_version& version, std::uint64_t rows) {
  return version.figures->runs == 0 ? std::numeric_limits<double>::infinity()
                                    : expected_candidates<Machine>(version, rows);
}

/// A running phase: each strategy runs some of the pending versions.
template <class Machine>
struct phase_run {
  plan_relations<Machine>& shared;
  std::vector<running_version>& versions;
  stratum_statistics& figures;

  /// Counts the rows of each version's first expansion.
  /// @return whether any version has rows
  [[nodiscard]] bool begin() {
    const auto is_empty = [this](relation_id relation) { return shared.relation_of(relation).rows() == 0; };
    bool has_rows = false;
    for (running_version& version : versions) {
      const bool finds_nothing = version.is_void || version.runs_elsewhere || version.planned->is_retired ||
                                 std::any_of(version.needed.begin(), version.needed.end(), is_empty);
      version.rows_left = finds_nothing ? 0 : kernels::input_rows(version.pipeline, shared.relations);
      if (rejects_rows(version)) skip(version);
      has_rows = has_rows || version.rows_left != 0;
    }
    return has_rows;
  }

  /// Returns the rows that the first expansion reads; 0 if the version is done, or cannot find anything new.
  [[nodiscard]] std::uint64_t rows_to_run(std::size_t v) const {
    if (versions[v].rows_left == 0) return 0;
    if constexpr (Machine::abilities.full_relations) {
      const kernels::pipeline& pipeline = versions[v].pipeline;
      if (pipeline.ends_when_full() && shared.relations[pipeline.target]->is_full()) return 0;
    }
    return versions[v].rows_left;
  }

  /// Records a run of the version.
  void finish(std::size_t v) {
    shared.last_version[versions[v].planned->head.value] = versions[v].planned;
    count_run(versions[v]);
  }

 private:
  /// Returns whether the first expansion reads a few rows, none of which passes the first comparisons with constants.
  /// Then tests of the columns take less time than a run.
  [[nodiscard]] bool rejects_rows(const running_version& version) const {
    if (version.tests.empty() || version.rows_left == 0 || version.rows_left > calibration::tested_rows) return false;
    const kernels::segment& first = version.pipeline.segments.front();
    const auto& source = shared.relation_of(relation_id(first.source));
    if constexpr (requires { kernels::rejects_all(version.tests, source, kernels::part_rows()); }) {
      return kernels::rejects_all(version.tests, source, kernels::rows_of(source, first.part));
    } else {
      return false;
    }
  }
  void skip(running_version& version) {
    version.figures->bindings += version.rows_left;
    count_run(version);
  }
  void count_run(running_version& version) {
    version.rows_left = 0;
    ++version.figures->runs;
    if (version.delta) version.figures->delta_rows += shared.relation_of(*version.delta).delta_rows();
  }
};

}  // namespace gpulog::exec
