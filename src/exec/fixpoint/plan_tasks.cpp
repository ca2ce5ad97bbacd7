#include "exec/fixpoint/plan_tasks.hpp"

#include <algorithm>
#include <variant>

#include "kernels/steps/host_steps.hpp"
#include "plan/reads.hpp"

namespace gpulog::exec {

std::set<std::uint32_t> indexes_read(const std::vector<plan::rule_version>& versions, bool with_others) {
  std::set<std::uint32_t> indexes;
  for (const plan::rule_version& version : versions) {
    const auto note = [&](relation_id, index_id index, bool) {
      if (index.valid()) indexes.insert(index.value);
    };
    for_each_read(version, note, with_others);
  }
  return indexes;
}

std::set<std::uint32_t> indexes_read(const std::vector<plan::subsumption>& subsumptions) {
  std::set<std::uint32_t> indexes;
  for (const plan::subsumption& one : subsumptions) {
    for_each_read(one.version, [&](relation_id, index_id index, bool) {
      if (index.valid()) indexes.insert(index.value);
    });
  }
  return indexes;
}

bool folds_the_same(const plan::rule_version& version, const std::vector<relation_id>& changing) {
  std::size_t aggregates = 0;  // number of enclosing aggregates
  const auto is_asked = [&version](std::size_t position) {
    return std::any_of(
        version.first_matches.begin(), version.first_matches.end(),
        [position](const plan::first_match& one) { return one.begin <= position && position < one.end; });
  };
  for (std::size_t position = 0; position < version.operations.size(); ++position) {
    const plan::operation& operation = version.operations[position];
    if (std::holds_alternative<plan::fold_begin>(operation)) ++aggregates;
    if (std::holds_alternative<plan::fold_end>(operation)) --aggregates;
    if (aggregates == 0 && !is_asked(position)) continue;
    const auto* const computed = std::get_if<plan::compute>(&operation);
    if (computed != nullptr && computed->op == scalar_op::iteration_number) return false;
    const auto changes = [&changing](relation_id read) {
      return std::find(changing.begin(), changing.end(), read) != changing.end();
    };
    const auto* const scanned = std::get_if<plan::scan>(&operation);
    const auto* const searched = std::get_if<plan::match>(&operation);
    const auto* const tested = std::get_if<plan::exists>(&operation);
    if (scanned != nullptr && changes(scanned->relation)) return false;
    if (searched != nullptr && changes(searched->relation)) return false;
    if (tested != nullptr && changes(tested->relation)) return false;
  }
  return true;
}

row_equations product_task_of(const row_equations& planned, bool with_first) {
  row_equations task = planned;
  if (with_first) return task;
  std::erase_if(task.rules, [](const row_rule& rule) { return !rule.is_recursive; });
  for (row_rule& rule : task.rules) rule.is_first = false;
  return task;
}

bool compares_words(const std::vector<row_filter>& filters, bool orders_words) {
  return std::all_of(filters.begin(), filters.end(), [orders_words](const row_filter& one) {
    if (kernels::needs_host(one.op)) return false;
    return orders_words || one.op == comparison_op::equal || one.op == comparison_op::not_equal;
  });
}

kernels::row_wise_task row_wise_task_of(const row_equations& planned, storage::wide_values* wide) {
  kernels::row_wise_task task{planned, {}, wide};
  for (row_filter& one : task.filters) {
    if (one.left == row_filter::side::constant) one.left_constant = storage::word_of(one.left_constant, wide);
    if (one.right == row_filter::side::constant) one.right_constant = storage::word_of(one.right_constant, wide);
  }
  return task;
}

kernels::row_wise_task row_wise_task_of(const std::vector<const plan::rule_version*>& versions,
                                        storage::wide_values* wide) {
  kernels::row_wise_task task = row_wise_task_of(*versions.front()->rows, wide);
  task.rules.clear();
  for (const plan::rule_version* version : versions) task.rules.push_back(version->rows->rules.front());
  return task;
}

}  // namespace gpulog::exec
