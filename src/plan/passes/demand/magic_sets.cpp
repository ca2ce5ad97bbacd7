#include "plan/passes/demand/magic_sets.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <set>
#include <utility>

#include "plan/pass.hpp"
#include "plan/rules/variable_set.hpp"

namespace gpulog::plan {
namespace {

using relation_set = std::set<relation_id>;

bool holds(const body_atom& atom, std::uint32_t variable) {
  return std::any_of(atom.arguments.begin(), atom.arguments.end(),
                     [variable](const term& argument) { return argument.is_variable() && argument.value == variable; });
}

source_key key_of(const body_atom& atom, std::uint32_t variable) {
  source_key key = {atom.relation.value};
  for (const term& argument : atom.arguments) {
    const bool is_asked = argument.is_variable() && argument.value == variable;
    key.push_back(is_asked ? 1 : argument.is_constant() ? 2 : 0);
    key.push_back(argument.is_constant() ? argument.literal : 0);
  }
  return key;
}

source_key key_of(const term& constant) { return {std::numeric_limits<std::uint64_t>::max(), constant.literal}; }

demand_source source_of(const body_atom& atom, std::uint32_t variable) {
  demand_source made;
  made.atom = atom;
  made.column = static_cast<std::uint32_t>(atom.arguments.size());
  for (std::uint32_t column = 0; column < atom.arguments.size(); ++column) {
    term& argument = made.atom.arguments[column];
    if (!argument.is_variable()) continue;
    if (argument.value == variable) {
      made.column = std::min(made.column, column);
      argument.value = 0;
    } else {
      argument = {term::form::unnamed, 0, argument.kind};
    }
  }
  return made;
}

/// Returns the relations that are complete only after the stratum.
relation_set growing_in(const stratum_rules& stratum) {
  relation_set growing(stratum.members.begin(), stratum.members.end());
  for (const normalized_rule& pattern : stratum.patterns) growing.insert(pattern.head);
  return growing;
}

/// Returns whether an atom of a complete relation binds the variable.
bool is_given(const normalized_rule& rule, std::uint32_t variable, const relation_set& growing) {
  return std::any_of(rule.atoms.begin(), rule.atoms.end(),
                     [&](const body_atom& atom) { return !growing.contains(atom.relation) && holds(atom, variable); });
}

/// Returns whether complete relations or constants bind all demanded columns of the atom.
bool is_given(const normalized_rule& rule, const body_atom& atom, const demand& asked, const relation_set& growing) {
  return std::all_of(asked.columns.begin(), asked.columns.end(), [&](const demanded_column& one) {
    const term& argument = atom.arguments[one.column];
    return argument.is_constant() || (argument.is_variable() && is_given(rule, argument.value, growing));
  });
}

/// Returns whether the value is a constant or read from an atom. A computed value is known only after the work that a
/// restriction saves.
bool is_read(const normalized_rule& rule, const sema::expression& value) {
  if (value.is_constant()) return true;
  return value.is_variable() && std::any_of(rule.atoms.begin(), rule.atoms.end(),
                                            [&value](const body_atom& atom) { return holds(atom, value.variable); });
}

/// Finds the demand for one relation of a stratum.
class demand_search {
 public:
  demand_search(relation_id relation, const stratum_rules& stratum,
                const magic_sets_rewriter::column_preference& prefers)
      : relation_(relation), growing_(growing_in(stratum)), prefers_(prefers) {
    for (const auto* rules : {&stratum.plain, &stratum.other, &stratum.patterns}) {
      for (const normalized_rule& rule : *rules) rules_.push_back(&rule);
    }
  }

  [[nodiscard]] demand run(std::uint32_t arity) const {
    demand result;
    result.relation = relation_;
    for (std::uint32_t column = 0; column < arity; ++column) {
      auto asked = asked_in(column);
      if (asked && !asked->sources.empty()) result.columns.push_back(std::move(*asked));
    }
    for (const normalized_rule* rule : rules_) {
      if (rule->head != relation_) continue;
      result.loses_join = result.loses_join || loses_join(*rule);
      result.is_row_wise = result.is_row_wise && may_be_row_wise(*rule);
      for (const body_atom& atom : rule->atoms) {
        result.reads_itself = result.reads_itself || atom.relation == relation_;
      }
    }
    return result;
  }

 private:
  /// Returns the atom of a complete relation that binds the variable with the fewest values.
  [[nodiscard]] const body_atom* binding(const normalized_rule& rule, std::uint32_t variable) const {
    const body_atom* best = nullptr;
    for (const body_atom& atom : rule.atoms) {
      if (growing_.contains(atom.relation) || !holds(atom, variable)) continue;
      if (best == nullptr || prefers_(place_of(atom, variable), place_of(*best, variable))) best = &atom;
    }
    return best;
  }

  static column_place place_of(const body_atom& atom, std::uint32_t variable) {
    return {atom.relation, source_of(atom, variable).column};
  }

  /// Returns the union of the demands of all readers in the column; empty if a reader needs all values.
  [[nodiscard]] std::optional<demanded_column> asked_in(std::uint32_t column) const {
    demanded_column asked;
    asked.column = column;
    for (const normalized_rule* rule : rules_) {
      const bool is_own = rule->head == relation_;
      if (is_own && !is_read(*rule, rule->head_arguments[column])) return std::nullopt;
      for (const body_atom& atom : rule->atoms) {
        if (atom.relation != relation_) continue;
        const term& argument = atom.arguments[column];
        if (argument.is_constant()) {
          asked.sources[key_of(argument)].constant = argument;
          continue;
        }
        if (!argument.is_variable()) return std::nullopt;
        if (const body_atom* const bound = binding(*rule, argument.value)) {
          asked.sources.emplace(key_of(*bound, argument.value), source_of(*bound, argument.value));
          continue;
        }
        const bool is_passed_on = is_own && rule->head_arguments[column].is_variable() &&
                                  rule->head_arguments[column].variable == argument.value;
        if (!is_passed_on) return std::nullopt;
      }
    }
    return asked;
  }

  /// Returns whether the rule derives pairs of variables and tests nothing but these.
  [[nodiscard]] static bool may_be_row_wise(const normalized_rule& rule) {
    const std::vector<sema::expression>& head = rule.head_arguments;
    if (head.size() != 2 || !head[0].is_variable() || !head[1].is_variable()) return false;
    const variable_set pair = {head[0].variable, head[1].variable};
    return pair.size() == 2 && rule.negations.empty() &&
           std::all_of(rule.conditions.begin(), rule.conditions.end(),
                       [&](const condition& test) { return is_subset(variables_of(test), pair); });
  }

  [[nodiscard]] bool loses_join(const normalized_rule& rule) const {
    std::vector<std::uint32_t> kept;
    for (const sema::expression& argument : rule.head_arguments) append_variables(argument, kept);
    std::set<std::uint32_t> seen;
    bool reads_growing = false;
    bool loses = false;
    for (const body_atom& atom : rule.atoms) {
      reads_growing = reads_growing || growing_.contains(atom.relation);
      std::vector<std::uint32_t> variables;
      append_variables(atom, variables);
      const std::set<std::uint32_t> own(variables.begin(), variables.end());
      for (const std::uint32_t variable : own) {
        const bool is_joined = !seen.insert(variable).second;
        loses = loses || (is_joined && std::find(kept.begin(), kept.end(), variable) == kept.end());
      }
    }
    return reads_growing && loses;
  }

  relation_id relation_;
  relation_set growing_;
  const magic_sets_rewriter::column_preference& prefers_;
  std::vector<const normalized_rule*> rules_;
};

}  // namespace

std::vector<demand> magic_sets_rewriter::find(const stratum_rules& stratum, const column_preference& prefers) const {
  if (notices_order(stratum, relations_)) return {};
  relation_set excluded;
  for (const relation_id member : stratum.members) {
    const relation& declared = relations_[member.value];
    if (declared.supplementary || declared.is_equivalence) excluded.insert(member);
  }
  for (const normalized_rule& rule : stratum.other) excluded.insert(rule.head);
  for (const normalized_rule& rule : stratum.plain) {
    if (!rule.plans.empty()) excluded.insert(rule.head);
  }
  std::vector<demand> demands;
  for (const relation_id member : stratum.members) {
    if (excluded.contains(member)) continue;
    demand asked =
        demand_search(member, stratum, prefers).run(static_cast<std::uint32_t>(relations_[member.value].kinds.size()));
    if (!asked.columns.empty()) demands.push_back(std::move(asked));
  }
  return demands;
}

relation_id magic_sets_rewriter::values_of(const demanded_column& asked, const normalized_rule& around,
                                           restriction& made) {
  const demand_source& first = asked.sources.begin()->second;
  const bool is_one = asked.sources.size() == 1 && !first.constant;
  if (is_one && first.atom.arguments.size() == 1) return first.atom.relation;
  std::vector<source_key> key;
  for (const auto& [form, source] : asked.sources) key.push_back(form);
  const auto known = values_.find(key);
  if (known != values_.end()) return known->second;

  const relation& reader = relations_[made.relation.value];
  const value_kind kind = reader.kinds[asked.column];
  std::string name = reader.attribute_names[asked.column];
  if (is_one) name = relations_[first.atom.relation.value].attribute_names[first.column];
  const relation_id values = make_relation_(is_one ? first.atom.relation : made.relation, {name}, {kind});
  for (const auto& [form, source] : asked.sources) {
    normalized_rule rule;
    rule.words = around.words;
    rule.id = around.id;
    rule.location = around.location;
    rule.head = values;
    if (source.constant) {
      sema::expression& constant = rule.head_arguments.emplace_back();
      constant.what = sema::expression::form::constant;
      constant.kind = kind;
      constant.constant = source.constant->literal;
    } else {
      rule.variables.push_back({name, kind});
      rule.atoms.push_back(source.atom);
      rule.head_arguments.push_back(variable_expression(rule, 0));
    }
    rule.text = text_of(rule, source_, name_of_);
    made.before.push_back(std::move(rule));
  }
  values_.emplace(std::move(key), values);
  return values;
}

/// Returns the tests that a rule of the restricted relation needs, except tests that the body already implies.
std::vector<magic_sets_rewriter::value_test> magic_sets_rewriter::tests_of(const normalized_rule& rule,
                                                                           const demand& asked,
                                                                           const restriction& made) const {
  std::vector<value_test> tests;
  for (std::size_t number = 0; number < asked.columns.size(); ++number) {
    const demanded_column& restricted = asked.columns[number];
    const sema::expression& value = rule.head_arguments[restricted.column];
    term argument{term::form::constant, 0, value.kind, value.constant};
    if (value.is_variable()) argument = variable_term(rule, value.variable);
    const bool is_known = std::any_of(rule.atoms.begin(), rule.atoms.end(), [&](const body_atom& atom) {
      if (!argument.is_variable()) return false;
      const bool is_passed_on = atom.relation == made.restricted && atom.arguments[restricted.column] == argument;
      return is_passed_on || restricted.sources.contains(key_of(atom, argument.value));
    });
    const bool is_repeated = std::any_of(tests.begin(), tests.end(), [&](const value_test& test) {
      return test.argument == argument && test.values == made.values[number];
    });
    if (!is_known && !is_repeated) tests.push_back({argument, made.values[number]});
  }
  return tests;
}

body_atom magic_sets_rewriter::restrict_atom(const body_atom& atom, const std::vector<body_atom>& tests,
                                             const normalized_rule& around, std::vector<normalized_rule>& rules) {
  body_atom result;
  const relation& whole = relations_[atom.relation.value];
  normalized_rule rule;
  rule.words = around.words;
  rule.id = around.id;
  rule.location = around.location;
  std::vector<std::uint64_t> key = {atom.relation.value};
  std::vector<std::string> names;
  std::vector<value_kind> kinds;
  body_atom reading;
  reading.relation = atom.relation;
  reading.arguments.resize(atom.arguments.size());
  for (std::uint32_t column = 0; column < atom.arguments.size(); ++column) {
    if (atom.arguments[column].what == term::form::unnamed) continue;
    result.arguments.push_back(atom.arguments[column]);
    key.push_back(column);
    names.push_back(whole.attribute_names[column]);
    kinds.push_back(whole.kinds[column]);
    const auto variable = static_cast<std::uint32_t>(rule.variables.size());
    rule.variables.push_back({names.back(), kinds.back()});
    reading.arguments[column] = variable_term(rule, variable);
    rule.head_arguments.push_back(variable_expression(rule, variable));
  }
  rule.atoms.push_back(reading);
  for (const body_atom& test : tests) {
    key.insert(key.end(), {std::numeric_limits<std::uint64_t>::max(), test.relation.value});
    body_atom& partner = rule.atoms.emplace_back(test);
    for (term& argument : partner.arguments) {
      key.insert(key.end(), {static_cast<std::uint64_t>(argument.what), argument.value, argument.literal});
      if (argument.is_variable()) argument = reading.arguments[argument.value];
    }
  }
  const auto known = restricted_.find(key);
  if (known != restricted_.end()) {
    result.relation = known->second;
    return result;
  }
  result.relation = make_relation_(atom.relation, std::move(names), std::move(kinds));
  restricted_.emplace(std::move(key), result.relation);
  rule.head = result.relation;
  rule.text = text_of(rule, source_, name_of_);
  rules.push_back(std::move(rule));
  return result;
}

normalized_rule magic_sets_rewriter::restrict_rule(const normalized_rule& rule, const demand& asked, restriction& made,
                                                   stratum_rules& stratum) {
  normalized_rule result = rule;
  result.head = made.restricted;
  for (body_atom& atom : result.atoms) {
    if (atom.relation == made.relation) atom.relation = made.restricted;
  }
  const relation_set growing = growing_in(stratum);
  const auto is_growing = [&](const body_atom& atom) {
    return atom.relation == made.restricted || growing.contains(atom.relation);
  };
  const bool is_join = result.atoms.size() > 1 && std::any_of(result.atoms.begin(), result.atoms.end(), is_growing);
  // Returns the atom to restrict, preferably of a complete relation, whose restricted copy is built once.
  const auto restricted_atom = [&](const term& argument) -> std::optional<std::size_t> {
    std::optional<std::size_t> found;
    if (!is_join || !argument.is_variable()) return found;
    for (std::size_t number = 0; number < result.atoms.size(); ++number) {
      const body_atom& atom = result.atoms[number];
      if (atom.is_equivalence || !holds(atom, argument.value)) continue;
      if (!is_growing(atom)) return number;
      const bool is_member =
          std::find(stratum.members.begin(), stratum.members.end(), atom.relation) != stratum.members.end();
      if (is_member && !found) found = number;
    }
    return found;
  };
  std::map<std::size_t, std::vector<body_atom>> by_atom;
  std::vector<value_test> apart;
  for (const value_test& test : tests_of(result, asked, made)) {
    if (const auto number = restricted_atom(test.argument)) {
      const std::vector<term>& arguments = result.atoms[*number].arguments;
      const auto place = std::find(arguments.begin(), arguments.end(), test.argument);
      const auto column = static_cast<std::uint32_t>(place - arguments.begin());
      by_atom[*number].push_back({test.values, {{term::form::variable, column, test.argument.kind}}});
    } else {
      apart.push_back(test);
    }
  }
  for (const auto& [number, tests] : by_atom) {
    auto& rules = growing.contains(result.atoms[number].relation) ? stratum.patterns : made.before;
    result.atoms[number] = restrict_atom(result.atoms[number], tests, rule, rules);
  }
  for (const value_test& test : apart) result.atoms.push_back({test.values, {test.argument}});
  result.text = text_of(result, source_, name_of_);
  return result;
}

restriction magic_sets_rewriter::apply(const demand& asked, stratum_rules& stratum) {
  restriction result;
  result.relation = asked.relation;
  const auto is_own = [&asked](const normalized_rule& rule) { return rule.head == asked.relation; };
  const auto first = std::find_if(stratum.plain.begin(), stratum.plain.end(), is_own);
  for (const demanded_column& column : asked.columns) result.values.push_back(values_of(column, *first, result));
  const relation whole = relations_[asked.relation.value];
  result.restricted = make_relation_(asked.relation, whole.attribute_names, whole.kinds);

  const relation_set growing = growing_in(stratum);
  const std::vector<normalized_rule> written = stratum.plain;
  const auto own_end = std::stable_partition(stratum.plain.begin(), stratum.plain.end(),
                                             [&](const normalized_rule& rule) { return !is_own(rule); });
  stratum.plain.erase(own_end, stratum.plain.end());
  for (const normalized_rule& rule : written) {
    if (!is_own(rule)) continue;
    normalized_rule& full = result.full.emplace_back(rule);
    for (std::size_t number = 0; number < rule.atoms.size(); ++number) {
      const body_atom& atom = rule.atoms[number];
      if (atom.relation == asked.relation && is_given(rule, atom, asked, growing)) {
        full.atoms[number].relation = result.restricted;
      }
    }
    stratum.plain.push_back(restrict_rule(rule, asked, result, stratum));
  }
  for (auto* rules : {&stratum.plain, &stratum.other, &stratum.patterns}) {
    for (normalized_rule& rule : *rules) {
      for (body_atom& atom : rule.atoms) {
        if (atom.relation == asked.relation) atom.relation = result.restricted;
      }
    }
  }
  std::replace(stratum.members.begin(), stratum.members.end(), asked.relation, result.restricted);
  return result;
}

void apply_magic_sets(planning& shared, stratum_rules& stratum) {
  if (!stratum.recursive || !stratum.may_factor) return;
  const auto prefers = [&](column_place first, column_place second) { return shared.demands.prefers(first, second); };
  while (const auto chosen = shared.demands.choose(shared.restrictions.find(stratum, prefers), shared.result.remarks)) {
    const std::size_t patterns = stratum.patterns.size();
    restriction added = shared.restrictions.apply(chosen->asked, stratum);
    std::vector<std::string> reasons;
    double all = 1;
    for (std::size_t number = 0; number < added.values.size(); ++number) {
      const std::uint32_t column = chosen->asked.columns[number].column;
      shared.demanded[added.values[number]] = chosen->shares[number];
      all *= chosen->shares[number];
      reasons.push_back(fmt::format("{} in {}, {:.2g} % of its values",
                                    shared.result.relations[added.relation.value].attribute_names[column],
                                    shared.name_of(added.values[number]), 100 * chosen->shares[number]));
    }
    shared.costs.set_rows(added.restricted, shared.costs.rows(added.relation, row_part::all) * all);
    for (std::size_t number = patterns; number < stratum.patterns.size(); ++number) {
      expect_rows(shared, stratum.patterns[number]);
    }
    shared.remark(
        fmt::format("{}: tuples of {} that the recursion reads ({}); all tuples are derived once, after the recursion",
                    shared.name_of(added.restricted), shared.name_of(added.relation), fmt::join(reasons, "; ")));
    for (const normalized_rule& rule : added.before) shared.plan_before(rule);
    stratum.restrictions.push_back(std::move(added));
  }
}

}  // namespace gpulog::plan
