#include "plan/rules/normalized_rule.hpp"

#include <algorithm>
#include <numeric>
#include <optional>
#include <utility>

#include "plan/rules/constant_folding.hpp"
#include "sema/rewriting/assignments.hpp"
#include "sema/rewriting/expressions.hpp"

namespace gpulog::plan {
namespace {

/// Classes of variables that equalities unify, and the constant of each class.
class variable_classes {
 public:
  variable_classes(const std::vector<sema::variable>& variables, word_size words)
      : words_(words), variables_(variables), parents_(variables.size()), constants_(variables.size()) {
    std::iota(parents_.begin(), parents_.end(), 0U);
  }

  [[nodiscard]] std::uint32_t representative(std::uint32_t variable) const {
    while (parents_[variable] != variable) variable = parents_[variable];
    return variable;
  }

  [[nodiscard]] std::optional<wide_word> constant(std::uint32_t variable) const {
    return constants_[representative(variable)];
  }

  /// Returns false if both variables already have constants: the equality remains a condition.
  bool unite(std::uint32_t first, std::uint32_t second) {
    first = representative(first);
    second = representative(second);
    if (first == second) return true;
    if (constants_[first] && constants_[second]) return false;
    // Plans show the written name, or the earlier name.
    const auto made = [this](std::uint32_t variable) { return variables_[variable].name.starts_with('@'); };
    if (std::pair(made(second), second) < std::pair(made(first), first)) std::swap(first, second);
    parents_[second] = first;
    if (!constants_[first]) constants_[first] = constants_[second];
    return true;
  }

  bool set_constant(std::uint32_t variable, wide_word value) {
    std::optional<wide_word>& constant = constants_[representative(variable)];
    if (constant) return *constant == value;
    constant = value;
    return true;
  }

  [[nodiscard]] word_size words() const { return words_; }

 private:
  word_size words_;
  const std::vector<sema::variable>& variables_;
  std::vector<std::uint32_t> parents_;
  std::vector<std::optional<wide_word>> constants_;
};

void substitute_variables(sema::expression& tree, const variable_classes& classes) {
  if (tree.is_variable()) {
    if (const std::optional<wide_word> value = classes.constant(tree.variable)) {
      tree.what = sema::expression::form::constant;
      tree.constant = *value;
    } else {
      tree.variable = classes.representative(tree.variable);
    }
  }
  for (sema::expression& argument : tree.arguments) substitute_variables(argument, classes);
}

void substitute(sema::expression& tree, const variable_classes& classes) {
  substitute_variables(tree, classes);
  fold_constants(tree, classes.words());
}

/// Adds the equality to the classes. Returns false if the equality remains a condition.
bool absorb(const condition& equality, variable_classes& classes) {
  if (equality.op != comparison_op::equal && equality.op != comparison_op::equal_float) return false;
  const sema::expression& left = equality.left;
  const sema::expression& right = equality.right;
  if (left.is_variable() && right.is_variable()) return classes.unite(left.variable, right.variable);
  if (left.is_variable() && right.is_constant()) return classes.set_constant(left.variable, right.constant);
  if (left.is_constant() && right.is_variable()) return classes.set_constant(right.variable, left.constant);
  return false;
}

body_atom to_body_atom(const sema::atom& source, const variable_classes& classes) {
  body_atom result;
  result.relation = source.relation;
  for (sema::expression argument : source.arguments) {
    substitute(argument, classes);
    term converted;
    converted.kind = argument.kind;
    if (argument.is_variable()) {
      converted.what = term::form::variable;
      converted.value = argument.variable;
    } else if (argument.is_constant()) {
      converted.what = term::form::constant;
      converted.literal = argument.constant;
    }
    result.arguments.push_back(converted);
  }
  return result;
}

sema::expression substituted(sema::expression tree, const variable_classes& classes) {
  substitute(tree, classes);
  return tree;
}

/// Sorts the literals of a body, except the rule's own constraints, which the classes contain.
void sort_literals(const std::vector<sema::literal>& body, const variable_classes& classes, normalized_rule& result);

aggregation to_aggregation(const sema::aggregate& source, const variable_classes& classes,
                           const normalized_rule& around) {
  aggregation result;
  result.by_assignment = sema::counts_assignments(source, around.variables);
  result.op = source.op;
  result.functor = source.functor;
  result.initial = source.initial;
  result.result = substituted(source.result, classes);
  for (const std::uint32_t variable : source.injected) {
    if (!classes.constant(variable)) result.injected.push_back(classes.representative(variable));
  }
  std::sort(result.injected.begin(), result.injected.end());
  result.injected.erase(std::unique(result.injected.begin(), result.injected.end()), result.injected.end());
  normalized_rule& body = result.body;
  body.words = around.words;
  body.id = around.id;
  body.head = around.head;
  body.variables = around.variables;
  body.location = around.location;
  // Equalities remain conditions because they need not hold outside the body.
  for (const sema::literal& part : source.body) {
    const auto* test = std::get_if<sema::constraint>(&part);
    if (test == nullptr) continue;
    body.conditions.push_back({test->op, substituted(test->left, classes), substituted(test->right, classes)});
  }
  sort_literals(source.body, classes, body);
  sema::expression target = substituted(source.target, classes);
  if (target.is_unnamed()) target.what = sema::expression::form::constant;
  body.head_arguments.push_back(std::move(target));
  return result;
}

void sort_literals(const std::vector<sema::literal>& body, const variable_classes& classes, normalized_rule& result) {
  for (const sema::literal& literal : body) {
    if (const auto* atom = std::get_if<sema::atom>(&literal)) {
      (atom->negated ? result.negations : result.atoms).push_back(to_body_atom(*atom, classes));
    } else if (const auto* folded = std::get_if<sema::aggregate>(&literal)) {
      result.aggregations.push_back(to_aggregation(*folded, classes, result));
    } else if (const auto* made = std::get_if<sema::generator>(&literal)) {
      generation& added = result.generations.emplace_back();
      added.kind = made->kind;
      added.result = substituted(made->result, classes);
      for (const sema::expression& argument : made->arguments) {
        added.arguments.push_back(substituted(argument, classes));
      }
    }
  }
}

}  // namespace

normalized_rule normalize(const sema::rule& source, word_size words) {
  normalized_rule result;
  result.words = words;
  result.id = source.id;
  result.head = source.head.relation;
  result.variables = source.variables;
  result.plans = source.plans;
  result.text = source.text;
  result.location = to_string(source.span);

  variable_classes classes(result.variables, words);
  std::vector<condition> conditions;
  for (const sema::literal& literal : source.body) {
    if (const auto* constraint = std::get_if<sema::constraint>(&literal)) {
      conditions.push_back({constraint->op, constraint->left, constraint->right});
    }
  }
  // An added equality may turn another equality into an equality of a variable and a constant.
  for (bool changed = true; changed;) {
    changed = false;
    std::vector<condition> remaining;
    for (condition& candidate : conditions) {
      substitute(candidate.left, classes);
      substitute(candidate.right, classes);
      if (absorb(candidate, classes)) {
        changed = true;
      } else {
        remaining.push_back(std::move(candidate));
      }
    }
    conditions = std::move(remaining);
  }
  for (condition& remaining : conditions) {
    std::optional<bool> truth;
    if (remaining.left.is_constant() && remaining.right.is_constant()) {
      truth = fold(remaining.op, remaining.left.constant, remaining.right.constant, words);
    }
    if (truth == false) result.unsatisfiable = true;
    if (!truth) result.conditions.push_back(std::move(remaining));
  }
  sort_literals(source.body, classes, result);
  for (sema::expression argument : source.head.arguments) {
    substitute(argument, classes);
    result.head_arguments.push_back(std::move(argument));
  }
  return result;
}

void append_variables(const sema::expression& tree, std::vector<std::uint32_t>& variables) {
  if (tree.is_variable()) variables.push_back(tree.variable);
  for (const sema::expression& argument : tree.arguments) append_variables(argument, variables);
}

void append_variables(const aggregation& folded, std::vector<std::uint32_t>& variables) {
  variables.insert(variables.end(), folded.injected.begin(), folded.injected.end());
  append_variables(folded.result, variables);
}

void append_variables(const generation& made, std::vector<std::uint32_t>& variables) {
  for (const sema::expression& argument : made.arguments) append_variables(argument, variables);
  append_variables(made.result, variables);
}

void append_variables(const body_atom& atom, std::vector<std::uint32_t>& variables) {
  for (const term& argument : atom.arguments) {
    if (argument.is_variable()) variables.push_back(argument.value);
  }
}

sema::expression variable_expression(const normalized_rule& rule, std::uint32_t variable) {
  return sema::variable_of(rule.variables[variable].kind, variable);
}

term variable_term(const normalized_rule& rule, std::uint32_t variable) {
  return {term::form::variable, variable, rule.variables[variable].kind};
}

void drop_unused_variables(normalized_rule& rule) {
  std::vector<std::uint32_t> used;
  for (const sema::expression& argument : rule.head_arguments) append_variables(argument, used);
  for (const body_atom& atom : rule.atoms) append_variables(atom, used);
  for (const body_atom& negated : rule.negations) append_variables(negated, used);
  for (const condition& test : rule.conditions) {
    append_variables(test.left, used);
    append_variables(test.right, used);
  }
  std::sort(used.begin(), used.end());
  used.erase(std::unique(used.begin(), used.end()), used.end());
  const auto number_of = [&used](std::uint32_t variable) {
    return static_cast<std::uint32_t>(std::lower_bound(used.begin(), used.end(), variable) - used.begin());
  };
  const auto renumber = [&](auto&& self, sema::expression& tree) -> void {
    if (tree.is_variable()) tree.variable = number_of(tree.variable);
    for (sema::expression& argument : tree.arguments) self(self, argument);
  };
  const auto renumber_atom = [&](body_atom& atom) {
    for (term& argument : atom.arguments) {
      if (argument.is_variable()) argument.value = number_of(argument.value);
    }
  };
  for (sema::expression& argument : rule.head_arguments) renumber(renumber, argument);
  for (body_atom& atom : rule.atoms) renumber_atom(atom);
  for (body_atom& negated : rule.negations) renumber_atom(negated);
  for (condition& test : rule.conditions) {
    renumber(renumber, test.left);
    renumber(renumber, test.right);
  }
  std::vector<sema::variable> variables;
  for (const std::uint32_t variable : used) variables.push_back(rule.variables[variable]);
  rule.variables = std::move(variables);
}

const std::vector<std::uint32_t>* forced_order(const normalized_rule& rule, std::uint32_t version) {
  for (const sema::execution_order& written : rule.plans) {
    if (written.version != version || written.order.size() != rule.atoms.size()) continue;
    std::vector<std::uint32_t> positions = written.order;
    std::sort(positions.begin(), positions.end());
    for (std::uint32_t position = 0; position < positions.size(); ++position) {
      if (positions[position] != position) return nullptr;
    }
    return &written.order;
  }
  return nullptr;
}

}  // namespace gpulog::plan
