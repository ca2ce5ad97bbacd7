#include "sema/aggregates/best_values.hpp"

#include <set>
#include <string>
#include <utility>
#include <variant>

#include "sema/print.hpp"
#include "sema/rewriting/expressions.hpp"
#include "support/orderings.hpp"

namespace gpulog::sema {

bool is_least(fold_op op) {
  const std::optional<extreme> value = extreme_of(op);
  return value && value->is_least;
}
bool is_greatest(fold_op op) {
  const std::optional<extreme> value = extreme_of(op);
  return value && !value->is_least;
}

bool is_count_or_sum(fold_op op) {
  return op == fold_op::count || op == fold_op::sum_number || op == fold_op::sum_float;
}

movement movement_of(fold_op op) { return is_least(op) ? movement::falls : movement::rises; }

std::optional<value_column> kept_value(const rule& subsumption) {
  if (subsumption.body.size() != 3) return std::nullopt;
  const std::vector<expression>& dominated = std::get<atom>(subsumption.body[0]).arguments;
  const std::vector<expression>& dominating = std::get<atom>(subsumption.body[1]).arguments;
  const auto* test = std::get_if<constraint>(&subsumption.body[2]);
  if (test == nullptr || !test->left.is_variable() || !test->right.is_variable()) return std::nullopt;
  std::set<std::uint32_t> variables;
  std::optional<std::uint32_t> column;
  for (std::uint32_t c = 0; c < dominated.size(); ++c) {
    if (!dominated[c].is_variable() || !dominating[c].is_variable()) return std::nullopt;
    if (!variables.insert(dominated[c].variable).second) return std::nullopt;
    if (dominated[c].variable == dominating[c].variable) continue;
    if (column || !variables.insert(dominating[c].variable).second) return std::nullopt;
    column = c;
  }
  const std::optional<ordering> order = ordering_of(test->op);
  if (!column || !order) return std::nullopt;
  const std::uint32_t worse = dominated[*column].variable;
  const std::uint32_t better = dominating[*column].variable;
  const bool as_written = test->left.variable == better && test->right.variable == worse;
  const bool turned = test->left.variable == worse && test->right.variable == better;
  if (!as_written && !turned) return std::nullopt;
  return value_column{*column, fold_of({order->kind, order->is_less == as_written}), true};
}

void add_subsumption(program& program, relation_id id, const value_column& value) {
  relation& declared = program.relations[id.value];
  rule keeps_best;
  keeps_best.head.relation = id;
  keeps_best.head.span = keeps_best.span = declared.span;
  atom dominating = keeps_best.head;
  const auto variable = [&](const std::string& name, value_kind kind) {
    const auto number = static_cast<std::uint32_t>(keeps_best.variables.size());
    keeps_best.variables.push_back({name, kind});
    return variable_of(kind, number, declared.span);
  };
  for (std::uint32_t column = 0; column < declared.arity(); ++column) {
    const attribute& described = declared.attributes[column];
    expression argument = variable(described.name, described.kind);
    dominating.arguments.push_back(column == value.column ? variable("@better", described.kind) : argument);
    keeps_best.head.arguments.push_back(std::move(argument));
  }
  keeps_best.body.emplace_back(keeps_best.head);
  constraint test;
  const extreme kept = extreme_of(value.op).value();
  test.op = comparison_of({kept.kind, kept.is_least, true});
  test.left = dominating.arguments[value.column];
  test.right = keeps_best.head.arguments[value.column];
  test.span = declared.span;
  keeps_best.body.emplace_back(std::move(dominating));
  keeps_best.body.emplace_back(std::move(test));
  const rule shown = as_in_source(program, keeps_best);
  keeps_best.text = to_text(program, shown, shown.body[0]) + " <= " + to_text(program, shown, shown.body[1]) + " :- " +
                    to_text(program, shown, shown.body[2]) + ".";
  declared.is_aggregate = true;
  declared.subsumptions.push_back(static_cast<std::uint32_t>(program.subsumptions.size()));
  program.subsumptions.push_back(std::move(keeps_best));
}

}  // namespace gpulog::sema
