#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <set>

#include "exec/calibration.hpp"
#include "exec/strategies/search/search_strategy.hpp"
#include "exec/strategies/strategy.hpp"

/// Product recursions, r(x,y) :- left(x,u), r(u,v), right(v,y), as rows of bits (docs/internals/row-products.md).
namespace gpulog::exec {

/// Returns the exclusive bound of the values if values serve directly as row numbers, or 0.
template <class Machine>
std::uint64_t bound_of_products(plan_relations<Machine>& shared, const kernels::product_task& task) {
  std::set<plan::column_place> places;
  std::uint64_t rows = 0;
  const auto add = [&](relation_id relation, std::uint32_t key, std::uint32_t value) {
    places.insert({relation, key});
    places.insert({relation, value});
    rows += shared.relation_of(relation).rows();
  };
  add(relation_id(task.target), 0, 1);
  for (const kernels::product_rule& rule : task.rules) {
    if (rule.left) add(relation_id(rule.left->relation), rule.left->key, rule.left->value);
    if (rule.right) add(relation_id(rule.right->relation), rule.right->key, rule.right->value);
  }
  const std::uint64_t bound = shared.bound_of(places);
  return bound <= calibration::values_of_a_row * rows ? bound : 0;
}

/// Returns the expected number of tuples derived from one tuple by the most productive rule, assuming uniform values.
/// Below 1, the results die out.
template <class Machine>
double growth_of_products(const plan_relations<Machine>& shared, const kernels::product_task& task,
                          std::uint64_t bound) {
  double growth = 0;
  const auto side = [&](const std::optional<kernels::pair_columns>& pairs) {
    if (!pairs) return 1.0;
    return static_cast<double>(shared.relations[pairs->relation]->rows()) / static_cast<double>(bound);
  };
  for (const kernels::product_rule& rule : task.rules) {
    if (rule.is_recursive) growth = std::max(growth, side(rule.left) * side(rule.right));
  }
  return growth;
}

/// @param rows number of first tuples
template <class Machine>
strategy_outcome run_products(stratum_run<Machine>& run, bool from_start, std::uint64_t rows) {
  plan_relations<Machine>& shared = run.shared;
  const bool always = shared.chosen.products == product_mode::always;
  if (!always && rows < Machine::least_product_tuples) return strategy_outcome::left;
  const kernels::product_task task = product_task_of(*run.stratum.products, from_start);
  if (task.rules.size() > kernels::product_task::most_rules) return strategy_outcome::left;
  const std::uint64_t bound = bound_of_products(shared, task);
  if (!Machine::ends_poor_products && !always && bound > calibration::small_product_rows &&
      growth_of_products(shared, task, bound) <= 1)
    return strategy_outcome::left;
  return run_search(run, [&]() -> std::optional<kernels::decomposed_counts> {
    try {
      const auto counts = shared.machine.run_products(task, bound, shared.relations, always, shared.chosen.stop);
      if (!counts) return std::nullopt;
      return kernels::decomposed_counts{counts->candidates, counts->rounds, 0, 0, counts->stages};
    } catch (const backend::memory_exceeded&) {
      // A loop needs less memory, and reports the shortage.
      return std::nullopt;
    }
  });
}

/// Includes the rules before the loop.
template <class Machine>
strategy_outcome multiply_rows_from_start(stratum_run<Machine>& run) {
  if constexpr (Machine::abilities.products) {
    const auto& planned = run.stratum.products;
    if (!planned || run.shared.is_published() || planned->first.empty()) return strategy_outcome::left;
    if (run.shared.rows_of(run.stratum) != 0) return strategy_outcome::left;
    std::uint64_t rows = 0;
    for (const plan::product_source& rule : planned->first) rows += run.shared.relation_of(rule.left->relation).rows();
    const strategy_outcome outcome = run_products(run, true, rows);
    run.is_complete = outcome == strategy_outcome::done;
    return outcome;
  } else {
    return strategy_outcome::left;
  }
}

/// Runs only the loop.
template <class Machine>
strategy_outcome multiply_rows(stratum_run<Machine>& run) {
  if constexpr (Machine::abilities.products) {
    if (!run.stratum.products || run.shared.is_published()) return strategy_outcome::left;
    const std::uint64_t rows = run.shared.rows_of(run.stratum);
    return rows == 0 ? strategy_outcome::left : run_products(run, false, rows);
  } else {
    return strategy_outcome::left;
  }
}

}  // namespace gpulog::exec
