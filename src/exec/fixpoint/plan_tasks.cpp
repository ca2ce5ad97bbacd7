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

kernels::numbered_task numbered_task_of(const plan::decomposition& planned) {
  kernels::numbered_task task;
  for (const plan::decomposed_member& member : planned.members)
    task.members.push_back({member.relation.value, member.invariants, member.nodes});
  for (const plan::decomposed_step& step : planned.steps) {
    kernels::numbered_step& made = task.steps.emplace_back();
    made.from = step.from;
    made.to = step.to;
    const std::vector<std::uint32_t>& nodes = planned.members[step.from].nodes;
    const auto place_of = [&nodes](std::uint32_t column) {
      return static_cast<std::uint32_t>(std::find(nodes.begin(), nodes.end(), column) - nodes.begin());
    };
    for (const std::uint32_t column : step.from_columns) made.from_nodes.push_back(place_of(column));
    made.key = step.key;
    made.columns = step.columns;
    made.copies = !step.relation.valid();
    if (made.copies) {
      std::transform(made.columns.begin(), made.columns.end(), made.columns.begin(), place_of);
    } else {
      made.relation = step.relation.value;
    }
  }
  return task;
}

kernels::row_part part_of(plan::part rows) {
  switch (rows) {
    case plan::part::old:
      return kernels::row_part::old;
    case plan::part::delta:
      return kernels::row_part::delta;
    case plan::part::all:
      break;
  }
  return kernels::row_part::all;
}

namespace {

/// Values of 64 bits and their codes are equal together, but in no other order.
bool compares_words(const plan::filter& one, bool orders_words) {
  if (kernels::needs_host(one.op)) return false;
  return orders_words || one.op == comparison_op::equal || one.op == comparison_op::not_equal;
}

kernels::pair_columns columns_of(const plan::column_pairs& pairs) {
  return {pairs.relation.value, pairs.key, pairs.value, part_of(pairs.rows)};
}
kernels::row_rule row_rule_of(const plan::row_source& source) {
  kernels::row_rule rule;
  rule.from = columns_of(source.from);
  if (source.to) rule.to = columns_of(*source.to);
  return rule;
}
std::vector<kernels::row_filter> row_filters_of(const std::vector<plan::filter>& filters, storage::wide_values* wide) {
  std::vector<kernels::row_filter> all;
  for (const plan::filter& planned : filters) {
    using side = kernels::row_filter::side;
    kernels::row_filter& row_filter = all.emplace_back();
    row_filter.op = planned.op;
    const auto put = [wide](const plan::operand& from, side& where, word& constant) {
      where = from.is_constant ? side::constant : from.value == 0 ? side::row : side::value;
      if (from.is_constant) constant = storage::word_of(from.literal, wide);
    };
    put(planned.left, row_filter.left, row_filter.left_constant);
    put(planned.right, row_filter.right, row_filter.right_constant);
  }
  return all;
}

}  // namespace

kernels::product_task product_task_of(const plan::product_recursion& planned, bool with_first) {
  kernels::product_task task;
  task.target = planned.relation.value;
  task.without_equal = planned.without_equal;
  const auto add = [&task](const plan::product_source& source, bool is_recursive, bool is_first) {
    kernels::product_rule& rule = task.rules.emplace_back();
    if (source.left) rule.left = columns_of(*source.left);
    if (source.right) rule.right = columns_of(*source.right);
    rule.is_recursive = is_recursive;
    rule.is_first = is_first;
  };
  const auto& first = planned.first;
  for (const plan::product_source& source : planned.rules)
    add(source, true, with_first && std::find(first.begin(), first.end(), source) != first.end());
  for (const plan::product_source& source : first) {
    const bool is_known = std::find(planned.rules.begin(), planned.rules.end(), source) != planned.rules.end();
    if (with_first && !is_known) add(source, false, true);
  }
  return task;
}

bool compare_words(const std::vector<plan::filter>& filters, bool orders_words) {
  return std::all_of(filters.begin(), filters.end(),
                     [orders_words](const plan::filter& one) { return compares_words(one, orders_words); });
}

kernels::row_wise_task row_wise_task_of(const plan::stratum& stratum, storage::wide_values* wide) {
  kernels::row_wise_task task;
  task.target = stratum.relations.front().value;
  for (const plan::row_source& source : stratum.row_wise->sources) task.rules.push_back(row_rule_of(source));
  task.filters = row_filters_of(stratum.row_wise->filters, wide);
  task.wide = wide;
  return task;
}

kernels::row_wise_task row_wise_task_of(const std::vector<const plan::rule_version*>& versions,
                                        storage::wide_values* wide) {
  kernels::row_wise_task task;
  task.target = versions.front()->head.value;
  for (const plan::rule_version* version : versions) task.rules.push_back(row_rule_of(version->row_wise->source));
  task.filters = row_filters_of(versions.front()->row_wise->filters, wide);
  task.wide = wide;
  return task;
}

}  // namespace gpulog::exec
