#include "plan/pivot_steps.hpp"

#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "plan/constant_folding.hpp"

namespace gpulog::plan {
namespace {

using variable_set = std::set<std::uint32_t>;

void append(const sema::expression& tree, variable_set& variables) {
  std::vector<std::uint32_t> found;
  append_variables(tree, found);
  variables.insert(found.begin(), found.end());
}

void append(const body_atom& atom, variable_set& variables) {
  std::vector<std::uint32_t> found;
  append_variables(atom, found);
  variables.insert(found.begin(), found.end());
}

bool contains(const variable_set& outer, const variable_set& inner) {
  return std::includes(outer.begin(), outer.end(), inner.begin(), inner.end());
}

/// Whether a value can be computed for rows that the recursion may never reach, without a trace.
bool leaves_no_trace(const sema::expression& tree) {
  if (tree.is_record() || may_trap(tree)) return false;
  if (tree.is_operation()) {
    const bool observes = tree.op == scalar_op::next_counter || tree.op == scalar_op::iteration_number ||
                          tree.op == scalar_op::call_functor;
    if (observes || tree.kind == value_kind::symbol) return false;
  }
  return std::all_of(tree.arguments.begin(), tree.arguments.end(), leaves_no_trace);
}

class step_maker {
 public:
  step_maker(relation_id own, std::uint32_t pivot) : own_(own), pivot_(pivot), moving_(1 - pivot) {}

  /// Whether the rule goes from a value to what follows it, whatever the pivot is. @return nothing if not, else the
  /// number of the atom of the own relation
  [[nodiscard]] std::optional<std::size_t> linear_atom(const normalized_rule& rule) const {
    std::optional<std::size_t> found;
    for (std::size_t number = 0; number < rule.atoms.size(); ++number) {
      if (rule.atoms[number].relation != own_) continue;
      if (found) return std::nullopt;
      found = number;
    }
    if (!found || !rule.plans.empty() || !rule.aggregations.empty() || !rule.generations.empty()) return std::nullopt;
    const body_atom& from = rule.atoms[*found];
    const sema::expression& kept = rule.head_arguments[pivot_];
    const term& passed = from.arguments[pivot_];
    const term& before = from.arguments[moving_];
    if (!passed.is_variable() || !kept.is_variable() || kept.variable != passed.value) return std::nullopt;
    if (before.what == term::form::unnamed) return std::nullopt;
    variable_set rest;
    for (std::size_t number = 0; number < rule.atoms.size(); ++number) {
      if (number != *found) append(rule.atoms[number], rest);
    }
    variable_set others = rest;
    for (const body_atom& negation : rule.negations) append(negation, others);
    for (const condition& test : rule.conditions) {
      append(test.left, others);
      append(test.right, others);
      if (!leaves_no_trace(test.left) || !leaves_no_trace(test.right)) return std::nullopt;
    }
    const sema::expression& after = rule.head_arguments[moving_];
    append(after, others);
    if (before.is_variable()) others.insert(before.value);
    if (!leaves_no_trace(after) || others.contains(passed.value)) return std::nullopt;
    if (before.is_variable() && !rest.contains(before.value)) return std::nullopt;
    // One atom binds what all others test.
    const bool is_bounded = std::any_of(rule.atoms.begin(), rule.atoms.end(), [&](const body_atom& atom) {
      variable_set bound;
      append(atom, bound);
      return atom.relation != own_ && !atom.is_equivalence && contains(bound, rest);
    });
    return is_bounded ? found : std::nullopt;
  }

  /// A rule that needs no step: from one atom of two different variables.
  [[nodiscard]] bool is_plain(const normalized_rule& rule, std::size_t own_atom) const {
    if (rule.atoms.size() != 2 || !rule.conditions.empty() || !rule.negations.empty()) return false;
    const body_atom& edge = rule.atoms[1 - own_atom];
    const term& before = rule.atoms[own_atom].arguments[moving_];
    const sema::expression& after = rule.head_arguments[moving_];
    if (edge.arguments.size() != 2 || !before.is_variable() || !after.is_variable()) return false;
    const auto holds = [&edge](std::uint32_t column, std::uint32_t variable) {
      return edge.arguments[column].is_variable() && edge.arguments[column].value == variable;
    };
    if (before.value == after.variable) return false;
    return (holds(0, before.value) && holds(1, after.variable)) || (holds(1, before.value) && holds(0, after.variable));
  }

  /// `r(x,y) :- r(x,z), r(z,y).`
  [[nodiscard]] bool is_doubling(const normalized_rule& rule) const {
    if (rule.atoms.size() != 2 || !rule.conditions.empty() || !rule.negations.empty()) return false;
    if (rule.atoms[0].relation != own_ || rule.atoms[1].relation != own_) return false;
    const auto joins = [&rule](const body_atom& left, const body_atom& right) {
      const bool is_chain = left.arguments[1].is_variable() && left.arguments[1] == right.arguments[0];
      const auto is_head = [&rule](std::uint32_t column, const term& argument) {
        return argument.is_variable() && rule.head_arguments[column].is_variable() &&
               rule.head_arguments[column].variable == argument.value;
      };
      return is_chain && is_head(0, left.arguments[0]) && is_head(1, right.arguments[1]);
    };
    return joins(rule.atoms[0], rule.atoms[1]) || joins(rule.atoms[1], rule.atoms[0]);
  }

  /// The step of a rule, which then reads it. @return its rule
  [[nodiscard]] normalized_rule take_step(normalized_rule& rule, std::size_t own_atom,
                                          const relation_maker& make_relation) const {
    const body_atom from = rule.atoms[own_atom];
    const term before = from.arguments[moving_];
    const sema::expression after = rule.head_arguments[moving_];
    normalized_rule step = rule;
    step.atoms.erase(step.atoms.begin() + static_cast<std::ptrdiff_t>(own_atom));
    step.head = make_relation(own_, {"from", "to"}, {before.kind, after.kind});
    sema::expression value;
    value.what = before.is_variable() ? sema::expression::form::variable : sema::expression::form::constant;
    value.kind = before.kind;
    value.variable = before.value;
    value.constant = before.literal;
    step.head_arguments = {value, after};

    // What is left has variables of its own: z and y may be constants, or one.
    normalized_rule left;
    left.words = rule.words;
    left.id = rule.id;
    left.head = rule.head;
    left.text = rule.text;
    left.location = rule.location;
    left.variables = {{rule.variables[from.arguments[pivot_].value].name, from.arguments[pivot_].kind},
                      {before.is_variable() ? rule.variables[before.value].name : "from", before.kind},
                      {after.is_variable() ? rule.variables[after.variable].name : "to", after.kind}};
    body_atom reading;
    reading.relation = own_;
    reading.arguments.resize(2);
    reading.arguments[pivot_] = variable_term(left, 0);
    reading.arguments[moving_] = variable_term(left, 1);
    left.atoms = {reading, {step.head, {variable_term(left, 1), variable_term(left, 2)}}};
    left.head_arguments.resize(2);
    left.head_arguments[pivot_] = variable_expression(left, 0);
    left.head_arguments[moving_] = variable_expression(left, 2);
    rule = std::move(left);
    return step;
  }

  /// Whether some rule gives the recursion more than one value of the pivot to start with.
  [[nodiscard]] bool starts_widely(const std::vector<normalized_rule>& rules) const {
    return std::any_of(rules.begin(), rules.end(), [this](const normalized_rule& rule) {
      const bool is_recursive = std::any_of(rule.atoms.begin(), rule.atoms.end(),
                                            [this](const body_atom& atom) { return atom.relation == own_; });
      return !is_recursive && !rule.head_arguments[pivot_].is_constant();
    });
  }

 private:
  relation_id own_;
  std::uint32_t pivot_;
  std::uint32_t moving_;
};

}  // namespace

std::vector<normalized_rule> make_pivot_steps(std::vector<normalized_rule>& rules, relation_id own,
                                              const relation_maker& make_relation) {
  std::vector<normalized_rule> made;
  for (const std::uint32_t pivot : {0U, 1U}) {
    const step_maker maker(own, pivot);
    if (!maker.starts_widely(rules)) continue;
    std::vector<std::pair<std::size_t, std::size_t>> asking;  // rules, and their atoms of the relation
    bool falls_apart = true;
    for (std::size_t number = 0; number < rules.size() && falls_apart; ++number) {
      const normalized_rule& rule = rules[number];
      const bool is_recursive = std::any_of(rule.atoms.begin(), rule.atoms.end(),
                                            [own](const body_atom& atom) { return atom.relation == own; });
      if (!is_recursive || maker.is_doubling(rule)) continue;
      const std::optional<std::size_t> atom = maker.linear_atom(rule);
      falls_apart = atom.has_value();
      if (atom && !maker.is_plain(rule, *atom)) asking.emplace_back(number, *atom);
    }
    if (!falls_apart || asking.empty()) continue;
    for (const auto& [number, atom] : asking) made.push_back(maker.take_step(rules[number], atom, make_relation));
    break;
  }
  return made;
}

}  // namespace gpulog::plan
