#include "engine/proofs/linear_rules.hpp"

#include <algorithm>
#include <utility>

#include "engine/proofs/expression_values.hpp"
#include "engine/proofs/rule_matcher.hpp"

namespace gpulog::detail {
namespace {

/// Maximum number of forms of one rule, because each form is a separate search.
constexpr std::size_t most_forms = 16;

bool recur_together(const sema::program& program, relation_id left, relation_id right) {
  return std::any_of(program.strata.begin(), program.strata.end(), [&](const sema::stratum& one) {
    const auto has = [&](relation_id wanted) {
      return std::find(one.relations.begin(), one.relations.end(), wanted) != one.relations.end();
    };
    return one.recursive && has(left) && has(right);
  });
}

/// Returns whether the body can be inlined: it consists of atoms and tests outside the recursion.
bool can_be_put_in(const sema::program& program, const sema::rule& source) {
  return std::all_of(source.body.begin(), source.body.end(), [&](const sema::literal& part) {
    if (const auto* read = std::get_if<sema::atom>(&part)) {
      return !recur_together(program, read->relation, source.head.relation);
    }
    const auto* tested = std::get_if<sema::constraint>(&part);
    return tested != nullptr && !counts(tested->left) && !counts(tested->right);
  });
}

std::vector<rule_id> rules_without_recursion(const sema::program& program, relation_id relation) {
  std::vector<rule_id> rules;
  for (const rule_id rule : program[relation].rules) {
    if (can_be_put_in(program, program[rule])) rules.push_back(rule);
  }
  return rules;
}

sema::expression renamed(sema::expression e, std::uint32_t first) {
  if (e.is_variable()) e.variable += first;
  for (sema::expression& argument : e.arguments) argument = renamed(std::move(argument), first);
  return e;
}

sema::literal renamed(const sema::literal& part, std::uint32_t first) {
  if (const auto* read = std::get_if<sema::atom>(&part)) {
    sema::atom changed_atom = *read;
    for (sema::expression& argument : changed_atom.arguments) argument = renamed(std::move(argument), first);
    return changed_atom;
  }
  sema::constraint changed_test = std::get<sema::constraint>(part);
  changed_test.left = renamed(std::move(changed_test.left), first);
  changed_test.right = renamed(std::move(changed_test.right), first);
  return changed_test;
}

/// Replaces an atom with the body of a rule and with equalities between the arguments of the atom and of the head.
void put_in(const sema::rule& source, const sema::atom& replaced, linear_rule& into) {
  const auto first = static_cast<std::uint32_t>(into.rule.variables.size());
  into.rule.variables.insert(into.rule.variables.end(), source.variables.begin(), source.variables.end());
  linear_rule::premise& premise = into.premises.back();
  premise.by = source.id.value;
  premise.count = 0;
  for (std::size_t column = 0; column < replaced.arguments.size(); ++column) {
    premise.values.push_back(renamed(source.head.arguments[column], first));
    if (replaced.arguments[column].is_unnamed()) continue;
    into.rule.body.emplace_back(
        sema::constraint{comparison_op::equal, replaced.arguments[column], premise.values.back(), replaced.span});
  }
  for (const sema::literal& part : source.body) {
    into.rule.body.push_back(renamed(part, first));
    premise.count += is_premise(part) ? 1 : 0;
  }
}

/// @param by for each positive atom the rule whose body replaces it; none: keep the atom
linear_rule form_of(const sema::program& program, const sema::rule& source, const std::vector<std::uint32_t>& by) {
  linear_rule linear;
  linear.rule = source;
  linear.rule.body.clear();
  std::size_t number = 0;
  std::size_t next = 0;
  for (const sema::literal& part : source.body) {
    if (!is_premise(part)) {
      linear.rule.body.push_back(part);
      continue;
    }
    const auto& read = std::get<sema::atom>(part);
    linear.premises.push_back({read.relation, next, 1, linear_rule::none, {}});
    if (by[number] == linear_rule::none) {
      linear.rule.body.push_back(part);
    } else {
      put_in(program.rules[by[number]], read, linear);
    }
    next += linear.premises.back().count;
    ++number;
  }
  return linear;
}

}  // namespace

std::vector<linear_rule> linear_rules_of(const sema::program& program, const sema::rule& source) {
  std::vector<std::size_t> recurring;
  std::vector<relation_id> read;
  for (const sema::literal& part : source.body) {
    if (!is_premise(part)) continue;
    read.push_back(std::get<sema::atom>(part).relation);
    if (recur_together(program, read.back(), source.head.relation)) recurring.push_back(read.size() - 1);
  }
  using choice = std::vector<std::uint32_t>;
  const choice as_it_is(read.size(), linear_rule::none);
  if (recurring.size() <= 1) return {form_of(program, source, as_it_is)};
  std::vector<linear_rule> forms;
  for (const std::size_t kept : recurring) {
    std::vector<choice> choices = {as_it_is};
    for (const std::size_t replaced : recurring) {
      if (replaced == kept) continue;
      std::vector<choice> longer;
      for (const choice& one : choices) {
        for (const rule_id rule : rules_without_recursion(program, read[replaced])) {
          longer.push_back(one);
          longer.back()[replaced] = rule.value;
        }
      }
      choices = std::move(longer);
      choices.resize(std::min(choices.size(), most_forms));
    }
    for (const choice& one : choices) {
      if (forms.size() < most_forms) forms.push_back(form_of(program, source, one));
    }
  }
  return forms;
}

}  // namespace gpulog::detail
