#include "plan/passes/recursions/invariant_columns.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "plan/pass.hpp"
#include "plan/passes/recursions/row_equations.hpp"
#include "plan/rules/constant_folding.hpp"
#include "plan/rules/passages.hpp"
#include "plan/rules/rule_text.hpp"
#include "plan/rules/variable_set.hpp"
#include "sema/rewriting/expressions.hpp"

namespace gpulog::plan {
namespace {

/// Returns whether the expression constructs no text. A constructed text gets a symbol number even if no row contains
/// the text in the end.
bool makes_no_text(const sema::expression& tree) {
  return !(tree.is_operation() && tree.kind == value_kind::symbol) &&
         std::all_of(tree.arguments.begin(), tree.arguments.end(), makes_no_text);
}

/// Returns whether the expression may be evaluated in a step that is computed before the recursion.
bool may_be_in_a_step(const sema::expression& tree) { return leaves_no_trace(tree) && makes_no_text(tree); }

using column_list = std::vector<std::uint32_t>;

/// Variables of a rule outside the atom of the stratum.
struct rest_of_rule {
  variable_set atoms;   ///< variables bound by the remaining atoms
  variable_set others;  ///< all variables outside the own atom and the head
};

class step_maker {
 public:
  step_maker(const std::vector<normalized_rule>& rules, const std::vector<relation_id>& members)
      : rules_(rules), members_(members) {}

  [[nodiscard]] bool is_own(relation_id relation) const {
    return std::find(members_.begin(), members_.end(), relation) != members_.end();
  }
  [[nodiscard]] bool is_recursive(const normalized_rule& rule) const {
    return std::any_of(rule.atoms.begin(), rule.atoms.end(),
                       [this](const body_atom& atom) { return is_own(atom.relation); });
  }

  /// Returns every choice of invariant columns, by member.
  [[nodiscard]] std::vector<std::vector<column_list>> ways() const {
    column_list arities(members_.size(), 0);
    std::vector<passage> passages;
    bool is_doubled = false;
    for (const normalized_rule& rule : rules_) {
      arities[number_of(rule.head)] = static_cast<std::uint32_t>(rule.head_arguments.size());
      if (!is_recursive(rule)) continue;
      if (is_doubling(rule)) {
        is_doubled = true;
      } else if (const auto atom = own_atom(rule)) {
        passages.push_back(passage_of(rule, *atom));
      } else {
        return {};
      }
    }
    if (is_doubled) return {{{0}}, {{1}}};
    if (std::find(arities.begin(), arities.end(), 0U) != arities.end()) return {};
    auto found = find_invariant_columns(arities, passages);
    if (found.empty()) return {};
    return {std::move(found)};
  }

  /// Checks that the rule maps some values to their successors, independently of the invariant columns.
  /// @return number of the atom of the stratum; empty if the rule does not
  [[nodiscard]] std::optional<std::size_t> linear_atom(const normalized_rule& rule,
                                                       const std::vector<column_list>& invariants) const {
    const auto found = own_atom(rule);
    if (!found || !rule.plans.empty() || !rule.aggregations.empty() || !rule.generations.empty()) return std::nullopt;
    const body_atom& from = rule.atoms[*found];
    const column_list& kept = invariants[number_of(rule.head)];
    const column_list& passed = invariants[number_of(from.relation)];
    const auto columns = passage_of(rule, *found).columns;
    for (std::size_t invariant = 0; invariant < passed.size(); ++invariant) {
      if (std::find(columns.begin(), columns.end(), std::pair(passed[invariant], kept[invariant])) == columns.end())
        return std::nullopt;
    }
    rest_of_rule rest = rest_of(rule, *found);
    for (const condition& test : rule.conditions) {
      if (!may_be_in_a_step(test.left) || !may_be_in_a_step(test.right)) return std::nullopt;
    }
    bool asks = false;
    for (const std::uint32_t column : other_columns(from.arguments.size(), passed)) {
      const term& before = from.arguments[column];
      asks = asks || before.what != term::form::unnamed;
      if (before.is_variable() && !rest.atoms.contains(before.value))
        return is_plain(rule, *found, invariants) ? found : std::nullopt;
    }
    for (const std::uint32_t column : other_columns(rule.head_arguments.size(), kept)) {
      const sema::expression& after = rule.head_arguments[column];
      if (!may_be_in_a_step(after)) return std::nullopt;
      rest.others.merge(variables_of(after));
    }
    for (const std::uint32_t column : passed) {
      if (rest.others.contains(from.arguments[column].value)) return std::nullopt;
    }
    // One atom binds all variables that the remaining literals test, so the step has at most the rows of this atom.
    const bool is_bounded = std::any_of(rule.atoms.begin(), rule.atoms.end(), [&](const body_atom& atom) {
      variable_set bound;
      bound.merge(variables_of(atom));
      return !is_own(atom.relation) && !atom.is_equivalence && is_subset(rest.atoms, bound);
    });
    return asks && is_bounded ? found : std::nullopt;
  }

  /// Returns whether a rule needs no step: the rule has at most one further atom, with distinct variables.
  [[nodiscard]] bool is_plain(const normalized_rule& rule, std::size_t own,
                              const std::vector<column_list>& invariants) const {
    if (rule.atoms.size() > 2 || !rule.conditions.empty() || !rule.negations.empty()) return false;
    const body_atom& from = rule.atoms[own];
    variable_set before;
    for (const std::uint32_t column : other_columns(from.arguments.size(), invariants[number_of(from.relation)])) {
      const term& one = from.arguments[column];
      if (one.is_constant() || (one.is_variable() && !before.insert(one.value).second)) return false;
    }
    variable_set after;
    for (const std::uint32_t column : other_columns(rule.head_arguments.size(), invariants[number_of(rule.head)])) {
      if (!rule.head_arguments[column].is_variable()) return false;
      after.insert(rule.head_arguments[column].variable);
    }
    if (rule.atoms.size() == 1) return is_subset(after, before);
    variable_set between;
    for (const term& argument : rule.atoms[1 - own].arguments) {
      if (!argument.is_variable() || !between.insert(argument.value).second) return false;
    }
    variable_set asked = before;
    asked.insert(after.begin(), after.end());
    const bool goes_on = !is_subset(after, before);
    return goes_on && !before.empty() && asked == between;
  }

  /// Returns whether the rule is `r(x,y) :- r(x,z), r(z,y).`
  [[nodiscard]] bool is_doubling(const normalized_rule& rule) const {
    if (members_.size() != 1 || rule.head_arguments.size() != 2) return false;
    if (rule.atoms.size() != 2 || !rule.conditions.empty() || !rule.negations.empty()) return false;
    if (!is_own(rule.atoms[0].relation) || !is_own(rule.atoms[1].relation)) return false;
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

  /// Moves the step of a rule into a relation, which the rule then reads.
  /// @return the rule of the relation
  [[nodiscard]] normalized_rule take_step(normalized_rule& rule, std::size_t own,
                                          const std::vector<column_list>& invariants,
                                          const relation_maker& make_relation) const {
    const body_atom from = rule.atoms[own];
    const column_list& passed = invariants[number_of(from.relation)];
    const column_list& kept = invariants[number_of(rule.head)];
    normalized_rule step = rule;
    step.atoms.erase(step.atoms.begin() + static_cast<std::ptrdiff_t>(own));
    step.head_arguments.clear();

    // The remaining rule gets new variables, because the arguments between the atoms may be constants or repeated.
    normalized_rule left;
    left.words = rule.words;
    left.id = rule.id;
    left.head = rule.head;
    left.text = rule.text;
    left.location = rule.location;
    const auto add_variable = [&left](std::string name, value_kind kind) {
      left.variables.push_back({std::move(name), kind});
      return static_cast<std::uint32_t>(left.variables.size() - 1);
    };
    body_atom reading;
    reading.relation = from.relation;
    reading.arguments.resize(from.arguments.size());
    left.head_arguments.resize(rule.head_arguments.size());
    for (std::size_t invariant = 0; invariant < passed.size(); ++invariant) {
      const term& argument = from.arguments[passed[invariant]];
      const std::uint32_t variable = add_variable(rule.variables[argument.value].name, argument.kind);
      reading.arguments[passed[invariant]] = variable_term(left, variable);
      left.head_arguments[kept[invariant]] = variable_expression(left, variable);
    }
    body_atom asking;
    std::vector<std::string> names;
    std::vector<value_kind> kinds;
    /// Makes a value of the rule a column of the step.
    /// @return variable of the value in the remaining rule
    const auto add_column = [&](const sema::expression& value, std::string name) {
      const std::uint32_t variable =
          add_variable(value.is_variable() ? rule.variables[value.variable].name : name, value.kind);
      step.head_arguments.push_back(value);
      names.push_back(std::move(name));
      kinds.push_back(value.kind);
      asking.arguments.push_back(variable_term(left, variable));
      return variable;
    };
    const column_list from_columns = other_columns(from.arguments.size(), passed);
    for (const std::uint32_t column : from_columns) {
      const term& before = from.arguments[column];
      if (before.what == term::form::unnamed) {
        reading.arguments[column].kind = before.kind;
        continue;
      }
      const std::uint32_t variable = add_column(value_of(before), numbered("from", column, from_columns));
      reading.arguments[column] = variable_term(left, variable);
    }
    const column_list to_columns = other_columns(rule.head_arguments.size(), kept);
    for (const std::uint32_t column : to_columns) {
      const std::uint32_t variable = add_column(rule.head_arguments[column], numbered("to", column, to_columns));
      left.head_arguments[column] = variable_expression(left, variable);
    }
    step.head = make_relation(rule.head, std::move(names), std::move(kinds));
    asking.relation = step.head;
    left.atoms = {std::move(reading), std::move(asking)};
    rule = std::move(left);
    return step;
  }

  /// Returns whether some rule starts the recursion with several values of the invariant columns.
  [[nodiscard]] bool starts_widely(const std::vector<column_list>& invariants) const {
    return std::any_of(rules_.begin(), rules_.end(), [&](const normalized_rule& rule) {
      if (is_recursive(rule)) return false;
      const column_list& own = invariants[number_of(rule.head)];
      return std::any_of(own.begin(), own.end(),
                         [&rule](std::uint32_t column) { return !rule.head_arguments[column].is_constant(); });
    });
  }

 private:
  [[nodiscard]] std::uint32_t number_of(relation_id relation) const {
    return static_cast<std::uint32_t>(std::find(members_.begin(), members_.end(), relation) - members_.begin());
  }

  /// Returns the atom of the stratum if the rule has exactly one.
  [[nodiscard]] std::optional<std::size_t> own_atom(const normalized_rule& rule) const {
    std::optional<std::size_t> found;
    for (std::size_t number = 0; number < rule.atoms.size(); ++number) {
      if (!is_own(rule.atoms[number].relation)) continue;
      if (found) return std::nullopt;
      found = number;
    }
    return found;
  }

  static rest_of_rule rest_of(const normalized_rule& rule, std::size_t own) {
    rest_of_rule rest;
    for (std::size_t number = 0; number < rule.atoms.size(); ++number) {
      if (number != own) rest.atoms.merge(variables_of(rule.atoms[number]));
    }
    rest.others = rest.atoms;
    for (const body_atom& negation : rule.negations) rest.others.merge(variables_of(negation));
    for (const condition& test : rule.conditions) {
      rest.others.merge(variables_of(test));
    }
    return rest;
  }

  /// Returns the columns whose variable occurs elsewhere only in the head.
  [[nodiscard]] passage passage_of(const normalized_rule& rule, std::size_t own) const {
    const body_atom& from = rule.atoms[own];
    const rest_of_rule rest = rest_of(rule, own);
    passage way{number_of(from.relation), number_of(rule.head), {}};
    for (std::uint32_t column = 0; column < from.arguments.size(); ++column) {
      const term& passed = from.arguments[column];
      if (!passed.is_variable() || rest.others.contains(passed.value)) continue;
      if (std::count(from.arguments.begin(), from.arguments.end(), passed) != 1) continue;
      for (std::uint32_t kept = 0; kept < rule.head_arguments.size(); ++kept) {
        const sema::expression& argument = rule.head_arguments[kept];
        if (argument.is_variable() && argument.variable == passed.value) way.columns.emplace_back(column, kept);
      }
    }
    return way;
  }

  static column_list other_columns(std::size_t arity, const column_list& invariants) {
    column_list others;
    for (std::uint32_t column = 0; column < arity; ++column) {
      if (std::find(invariants.begin(), invariants.end(), column) == invariants.end()) others.push_back(column);
    }
    return others;
  }

  /// Returns the value of a variable or constant argument.
  static sema::expression value_of(const term& argument) {
    return argument.is_variable() ? sema::variable_of(argument.kind, argument.value)
                                  : sema::constant_of(argument.kind, argument.literal);
  }

  static std::string numbered(const char* name, std::uint32_t column, const column_list& columns) {
    return columns.size() == 1 ? name : name + std::to_string(column);
  }

  const std::vector<normalized_rule>& rules_;
  const std::vector<relation_id>& members_;
};

}  // namespace

std::vector<normalized_rule> make_invariant_steps(std::vector<normalized_rule>& rules,
                                                  const std::vector<relation_id>& members,
                                                  const relation_maker& make_relation) {
  std::vector<normalized_rule> made;
  const step_maker maker(rules, members);
  for (const std::vector<column_list>& invariants : maker.ways()) {
    if (!maker.starts_widely(invariants)) continue;
    std::vector<std::pair<std::size_t, std::size_t>> asking;  // rules and their atoms of the stratum
    bool falls_apart = true;
    for (std::size_t number = 0; number < rules.size() && falls_apart; ++number) {
      const normalized_rule& rule = rules[number];
      if (!maker.is_recursive(rule) || maker.is_doubling(rule)) continue;
      const std::optional<std::size_t> atom = maker.linear_atom(rule, invariants);
      falls_apart = atom.has_value();
      if (atom && !maker.is_plain(rule, *atom, invariants)) asking.emplace_back(number, *atom);
    }
    if (!falls_apart || asking.empty()) continue;
    for (const auto& [number, atom] : asking)
      made.push_back(maker.take_step(rules[number], atom, invariants, make_relation));
    break;
  }
  return made;
}

void make_invariant_steps(planning& shared, stratum_rules& stratum) {
  // Only steps read the relations.
  if (shared.chosen.rows == row_mode::off || shared.chosen.rows == row_mode::loops) return;
  if (!stratum.recursive || !stratum.may_factor || !stratum.other.empty() || !stratum.patterns.empty()) return;
  const bool may = std::all_of(stratum.members.begin(), stratum.members.end(),
                               [&](relation_id id) { return may_have_steps(shared.result.relations[id.value]); });
  if (!may) return;
  for (normalized_rule& step : make_invariant_steps(stratum.plain, stratum.members, shared.make_relation)) {
    const std::string rule = std::exchange(step.text, text_of(step, shared.source, shared.name_of));
    shared.remark(fmt::format("{}: joins of {} that lead from one row to the next, evaluated once before the recursion",
                              shared.name_of(step.head), rule));
    shared.plan_before(std::move(step));
  }
}

}  // namespace gpulog::plan
