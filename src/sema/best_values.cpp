#include "sema/best_values.hpp"

#include <set>
#include <string>
#include <utility>
#include <variant>

#include "sema/print.hpp"

namespace gpulog::sema {

namespace {

comparison_op better(fold_op op) {
  switch (op) {
    case fold_op::min_unsigned:
      return comparison_op::less_unsigned;
    case fold_op::min_float:
      return comparison_op::less_float;
    case fold_op::max_number:
      return comparison_op::greater_number;
    case fold_op::max_unsigned:
      return comparison_op::greater_unsigned;
    case fold_op::max_float:
      return comparison_op::greater_float;
    default:
      return comparison_op::less_number;
  }
}

/// What a comparison of a dominating value with a dominated one keeps.
std::optional<fold_op> kept_by(comparison_op op) {
  switch (op) {
    case comparison_op::less_number:
    case comparison_op::less_equal_number:
      return fold_op::min_number;
    case comparison_op::less_unsigned:
    case comparison_op::less_equal_unsigned:
      return fold_op::min_unsigned;
    case comparison_op::less_float:
    case comparison_op::less_equal_float:
      return fold_op::min_float;
    case comparison_op::greater_number:
    case comparison_op::greater_equal_number:
      return fold_op::max_number;
    case comparison_op::greater_unsigned:
    case comparison_op::greater_equal_unsigned:
      return fold_op::max_unsigned;
    case comparison_op::greater_float:
    case comparison_op::greater_equal_float:
      return fold_op::max_float;
    default:
      return std::nullopt;
  }
}

fold_op opposite(fold_op op) {
  switch (op) {
    case fold_op::min_number:
      return fold_op::max_number;
    case fold_op::min_unsigned:
      return fold_op::max_unsigned;
    case fold_op::min_float:
      return fold_op::max_float;
    case fold_op::max_number:
      return fold_op::min_number;
    case fold_op::max_unsigned:
      return fold_op::min_unsigned;
    default:
      return fold_op::min_float;
  }
}

}  // namespace

bool is_least(fold_op op) {
  return op == fold_op::min_number || op == fold_op::min_unsigned || op == fold_op::min_float;
}
bool is_greatest(fold_op op) {
  return op == fold_op::max_number || op == fold_op::max_unsigned || op == fold_op::max_float;
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
  const auto kept = kept_by(test->op);
  if (!column || !kept) return std::nullopt;
  const std::uint32_t worse = dominated[*column].variable;
  const std::uint32_t better = dominating[*column].variable;
  if (test->left.variable == better && test->right.variable == worse) return value_column{*column, *kept, true};
  if (test->left.variable == worse && test->right.variable == better)
    return value_column{*column, opposite(*kept), true};
  return std::nullopt;
}

void add_subsumption(program& program, relation_id id, const value_column& value) {
  relation& declared = program.relations[id.value];
  rule made;
  made.head.relation = id;
  made.head.span = made.span = declared.span;
  atom dominating = made.head;
  const auto variable = [&](const std::string& name, value_kind kind) {
    expression result;
    result.what = expression::form::variable;
    result.kind = kind;
    result.variable = static_cast<std::uint32_t>(made.variables.size());
    result.span = declared.span;
    made.variables.push_back({name, kind});
    return result;
  };
  for (std::uint32_t column = 0; column < declared.arity(); ++column) {
    const attribute& described = declared.attributes[column];
    expression argument = variable(described.name, described.kind);
    dominating.arguments.push_back(column == value.column ? variable("@better", described.kind) : argument);
    made.head.arguments.push_back(std::move(argument));
  }
  made.body.emplace_back(made.head);
  constraint test;
  test.op = better(value.op);
  test.left = dominating.arguments[value.column];
  test.right = made.head.arguments[value.column];
  test.span = declared.span;
  made.body.emplace_back(std::move(dominating));
  made.body.emplace_back(std::move(test));
  made.text = to_text(program, made, made.body[0]) + " <= " + to_text(program, made, made.body[1]) + " :- " +
              to_text(program, made, made.body[2]) + ".";
  declared.is_aggregate = true;
  declared.subsumptions.push_back(static_cast<std::uint32_t>(program.subsumptions.size()));
  program.subsumptions.push_back(std::move(made));
}

}  // namespace gpulog::sema
