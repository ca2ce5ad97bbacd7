#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include "exec/calibration.hpp"
#include "exec/fixpoint/matrix_reads.hpp"
#include "exec/strategies/strategy.hpp"
#include "kernels/products/product_task.hpp"
#include "kernels/row_wise/row_wise_task.hpp"
#include "kernels/search/decomposed_task.hpp"

/// Schedules of row equations: orders in which rows are computed (docs/internals/rows.md). A schedule returns nothing,
/// without any effect, if it does not apply or does not pay.
namespace gpulog::exec {

template <class Machine>
struct row_schedule {
  std::string_view name;
  std::optional<kernels::row_counts> (*run)(stratum_run<Machine>& run);
  bool has_fallback = true;  ///< without enough memory, the next schedule or strategy runs
};

/// Collects the columns and the rows of relations that equations read.
template <class Machine>
class read_columns {
 public:
  explicit read_columns(plan_relations<Machine>& shared) : shared_(&shared) {}

  void add(const column_pairs& pairs) {
    places_.insert({pairs.relation, pairs.key});
    places_.insert({pairs.relation, pairs.value});
    rows_ += shared_->relation_of(pairs.relation).rows();
  }
  /// Returns the exclusive bound of the values if values serve directly as row numbers, or 0.
  [[nodiscard]] std::uint64_t bound() const {
    const std::uint64_t bound = shared_->bound_of(places_);
    return bound <= calibration::values_of_a_row * rows_ ? bound : 0;
  }

 private:
  plan_relations<Machine>* shared_;
  std::set<plan::column_place> places_;
  std::uint64_t rows_ = 0;
};

// Steps.

/// Returns the steps over values with bitmaps, and refreshes the indexes.
/// @return nothing if values are tuples or too large
template <class Machine>
std::optional<kernels::value_steps> value_steps_of(stratum_run<Machine>& run) {
  plan_relations<Machine>& shared = run.shared;
  const row_equations& planned = *run.stratum.rows;
  if (!planned.is_binary()) return std::nullopt;
  std::set<plan::column_place> places = {{planned.relation(), planned.members.front().targets.front()}};
  for (const row_step& step : planned.steps) {
    if (step.copies()) return std::nullopt;
    places.insert({step.relation, step.columns.front()});
  }
  kernels::value_steps made;
  made.values = shared.bound_of(places);
  if (made.values > shared.machine.bitmap_values()) return std::nullopt;
  for (const row_step& step : planned.steps) {
    shared.refresh_index(step.index.value, run.figures);
    const plan::index& index = shared.program.indexes[step.index.value];
    const storage::index_layout layout = make_layout(index, shared.chosen.storage);
    const auto level = std::find(index.key_lengths.begin(), index.key_lengths.end(), 1U) - index.key_lengths.begin();
    const auto stored =
        std::find(layout.stored.begin(), layout.stored.end(), step.columns.front()) - layout.stored.begin();
    made.steps.push_back({step.relation.value, shared.places[step.index.value].number, static_cast<std::size_t>(level),
                          static_cast<std::uint32_t>(stored)});
  }
  return made;
}

/// Searches each row, over values or over numbers assigned to values and tuples.
template <class Machine>
std::optional<kernels::row_counts> search_each(stratum_run<Machine>& run) {
  if (!run.stratum.has_row_steps()) return std::nullopt;
  // An earlier schedule may have left a graph of numbers, so that searches need no indexes.
  const auto values = run.shared.machine.has_numbers() ? std::nullopt : value_steps_of(run);
  return run.shared.machine.run_search(*run.stratum.rows, values, run.shared.relations, run.shared.chosen.stop);
}

/// Returns the exclusive bound of the values if values serve directly as row numbers, or 0.
template <class Machine>
std::uint64_t bound_of_steps(const stratum_run<Machine>& run) {
  const row_equations& planned = *run.stratum.rows;
  if (!planned.is_binary()) return 0;
  read_columns<Machine> read(run.shared);
  read.add({planned.relation(), 0, 1});
  for (const row_step& step : planned.steps) {
    if (step.copies()) return 0;
    read.add({step.relation, step.key.front(), step.columns.front()});
  }
  return read.bound();
}

/// Computes rows from complete rows: of components of the graph, or of earlier searches.
template <class Machine>
std::optional<kernels::row_counts> reuse_rows(stratum_run<Machine>& run) {
  plan_relations<Machine>& shared = run.shared;
  if (!run.stratum.has_row_steps() || shared.chosen.rows == row_mode::searches) return std::nullopt;
  const bool always = forces_recursions(shared.chosen.rows);
  if (!always && shared.rows_of(run.stratum) < shared.machine.least_reused_rows()) return std::nullopt;
  return shared.machine.run_reusing(
      *run.stratum.rows, [&run] { return bound_of_steps(run); }, shared.relations, always, shared.chosen);
}

// Products.

/// Returns the expected number of tuples derived from one tuple by the most productive rule, assuming uniform values.
/// Below 1, the results die out.
template <class Machine>
double growth_of_products(const plan_relations<Machine>& shared, const row_equations& task, std::uint64_t bound) {
  double growth = 0;
  const auto side = [&](const std::optional<column_pairs>& pairs) {
    if (!pairs) return 1.0;
    return static_cast<double>(shared.relation_of(pairs->relation).rows()) / static_cast<double>(bound);
  };
  for (const row_rule& rule : task.rules) {
    if (rule.is_recursive) growth = std::max(growth, side(rule.left) * side(rule.right));
  }
  return growth;
}

/// @param from_start whether to include the rules before the loop
/// @param rows number of first tuples
template <class Machine>
std::optional<kernels::row_counts> run_products(stratum_run<Machine>& run, bool from_start, std::uint64_t rows) {
  plan_relations<Machine>& shared = run.shared;
  const bool always = forces_recursions(shared.chosen.rows);
  if (rows == 0 || (!always && rows < Machine::least_product_tuples)) return std::nullopt;
  const row_equations task = product_task_of(*run.stratum.rows, from_start);
  if (task.rules.size() > kernels::most_product_rules) return std::nullopt;
  read_columns<Machine> read(shared);
  read.add({task.relation(), 0, 1});
  for (const row_rule& rule : task.rules) {
    if (rule.left) read.add(*rule.left);
    if (rule.right) read.add(*rule.right);
  }
  const std::uint64_t bound = read.bound();
  if (!Machine::ends_costly_products && !always && bound > calibration::small_product_rows &&
      growth_of_products(shared, task, bound) <= 1)
    return std::nullopt;
  return shared.machine.run_products(task, bound, shared.relations, always, shared.chosen.stop);
}

template <class Machine>
std::optional<kernels::row_counts> multiply_rows_from_start(stratum_run<Machine>& run) {
  if (!run.stratum.has_row_products() || run.shared.rows_of(run.stratum) != 0) return std::nullopt;
  std::uint64_t rows = 0;
  for (const row_rule& rule : run.stratum.rows->rules) {
    if (rule.is_first) rows += run.shared.relation_of(rule.left->relation).rows();
  }
  const auto counts = run_products(run, true, rows);
  run.is_complete = counts.has_value();
  return counts;
}

template <class Machine>
std::optional<kernels::row_counts> multiply_rows(stratum_run<Machine>& run) {
  if (!run.stratum.has_row_products()) return std::nullopt;
  return run_products(run, false, run.shared.rows_of(run.stratum));
}

// Joins.

template <class Machine>
bool can_run_row_wise(const plan_relations<Machine>& shared, const row_equations& planned) {
  if (!compares_words(planned.filters, shared.chosen.wide == nullptr || Machine::abilities.orders_rows)) return false;
  // Matrices have no columns.
  return std::none_of(planned.rules.begin(), planned.rules.end(), [&shared](const row_rule& rule) {
    return shared.relation_of(rule.left->relation).matrix() != nullptr ||
           (rule.right && shared.relation_of(rule.right->relation).matrix() != nullptr);
  });
}

/// Evaluates a stratum without a loop.
template <class Machine>
std::optional<kernels::row_counts> join_rows(stratum_run<Machine>& run) {
  plan_relations<Machine>& shared = run.shared;
  if (!run.stratum.is_row_join() || !can_run_row_wise(shared, *run.stratum.rows)) return std::nullopt;
  const relation_id target = run.stratum.rows->relation();
  if (shared.relation_of(target).rows() != 0) return std::nullopt;
  const bool always = shared.chosen.rows == row_mode::always;
  // A relation that derives each tuple once has no set that row-wise evaluation could save.
  if (!always && !shared.program.relations[target.value].needs_set) return std::nullopt;
  kernels::row_wise_task task = row_wise_task_of(*run.stratum.rows, shared.chosen.wide);
  task.forced = always;
  task.budget = run.phases.front().front().pipeline.budget;
  task.needs_set = shared.uses.set_needed[target.value] != run.number;
  task.may_keep_words = matrix_reads<Machine>(shared).reads_words_only(target, run.number);
  auto candidates = shared.machine.run_row_wise(task, shared.relations, Machine::row_wise_pays, shared.chosen.stop);
  if (!candidates) return std::nullopt;
  return kernels::row_counts{.by_rule = *std::move(candidates)};
}

}  // namespace gpulog::exec
