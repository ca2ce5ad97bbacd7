#include "plan/passes/bodies/semi_joins.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <utility>

#include "plan/rules/constant_folding.hpp"
#include "plan/rules/variable_set.hpp"
#include "support/orderings.hpp"

namespace gpulog::plan {
namespace {

/// Of a variable: how many literals but conditions use it, and the head.
std::vector<std::uint32_t> count_uses(const normalized_rule& rule) {
  std::vector<std::uint32_t> uses(rule.variables.size());
  const auto use = [&uses](const auto& part) {
    for (const std::uint32_t variable : variables_of(part)) ++uses[variable];
  };
  for (const body_atom& atom : rule.atoms) use(atom);
  for (const body_atom& negation : rule.negations) use(negation);
  for (const aggregation& folded : rule.aggregations) use(folded);
  for (const generation& made : rule.generations) use(made);
  for (const sema::expression& argument : rule.head_arguments) use(argument);
  return uses;
}

/// The conditions on the atom, all by the order of one of its variables; nothing when there are others, or none.
std::optional<std::vector<std::size_t>> conditions_on(const normalized_rule& rule, const variable_set& own) {
  std::vector<std::size_t> found;
  std::optional<std::uint32_t> compared;
  for (std::size_t number = 0; number < rule.conditions.size(); ++number) {
    const condition& test = rule.conditions[number];
    const variable_set left = variables_of(test.left);
    const variable_set right = variables_of(test.right);
    if (!intersect(left, own) && !intersect(right, own)) continue;
    const std::optional<ordering> order = ordering_of(test.op);
    if (!order || order->kind == value_kind::floating || (intersect(left, own) && intersect(right, own))) return {};
    const bool is_left = intersect(left, own);
    const sema::expression& side = is_left ? test.left : test.right;
    const sema::expression& value = is_left ? test.right : test.left;
    if (!side.is_variable() || may_trap(value) || compared.value_or(side.variable) != side.variable) return {};
    compared = side.variable;
    found.push_back(number);
  }
  return found.empty() ? std::nullopt : std::optional(std::move(found));
}

void count_atom(normalized_rule& rule, std::size_t atom, const std::vector<std::size_t>& conditions,
                const variable_set& own) {
  sema::expression zero;
  zero.what = sema::expression::form::constant;
  zero.kind = value_kind::number;
  const auto result = static_cast<std::uint32_t>(rule.variables.size());
  rule.variables.push_back({"@" + std::to_string(result), value_kind::number});
  aggregation counted;
  counted.op = fold_op::count;
  counted.result = variable_expression(rule, result);
  normalized_rule& body = counted.body;
  body.words = rule.words;
  body.id = rule.id;
  body.head = rule.head;
  body.head_arguments = {zero};  // a count has no target
  body.variables = rule.variables;
  body.location = rule.location;
  body.atoms = {std::move(rule.atoms[atom])};
  rule.atoms.erase(rule.atoms.begin() + static_cast<std::ptrdiff_t>(atom));
  variable_set injected;
  for (const std::size_t number : conditions) {
    const condition& moved = body.conditions.emplace_back(std::move(rule.conditions[number]));
    injected.merge(variables_of(moved.left));
    injected.merge(variables_of(moved.right));
  }
  for (const std::uint32_t variable : own) injected.erase(variable);
  counted.injected.assign(injected.begin(), injected.end());
  std::size_t number = 0;
  std::erase_if(rule.conditions, [&](const condition&) {
    return std::find(conditions.begin(), conditions.end(), number++) != conditions.end();
  });
  rule.conditions.push_back({comparison_of({value_kind::number, true, true}), zero, counted.result});
  rule.aggregations.push_back(std::move(counted));
}

}  // namespace

void use_semi_joins(normalized_rule& rule, const std::vector<relation_id>& members) {
  if (!rule.plans.empty() || rule.unsatisfiable || rule.conditions.empty()) return;
  std::vector<std::uint32_t> uses = count_uses(rule);
  for (std::size_t atom = rule.atoms.size(); rule.atoms.size() > 1 && atom-- > 0;) {
    const body_atom& read = rule.atoms[atom];
    const variable_set own = variables_of(read);
    const bool is_alone =
        std::all_of(own.begin(), own.end(), [&uses](std::uint32_t variable) { return uses[variable] == 1; });
    if (read.is_equivalence || own.empty() || !is_alone) continue;
    if (std::find(members.begin(), members.end(), read.relation) != members.end()) continue;
    const auto conditions = conditions_on(rule, own);
    if (!conditions) continue;
    count_atom(rule, atom, *conditions, own);
    for (const std::uint32_t variable : rule.aggregations.back().injected) ++uses[variable];
  }
}

}  // namespace gpulog::plan
