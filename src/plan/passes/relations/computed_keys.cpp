#include "plan/passes/relations/computed_keys.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include "plan/pass.hpp"
#include "plan/rules/constant_folding.hpp"
#include "plan/rules/variable_set.hpp"
#include "support/orderings.hpp"

namespace gpulog::plan {
namespace {

/// `record = pattern`, in either order.
struct record_equality {
  std::uint32_t record = 0;
  const sema::expression* pattern = nullptr;
};

std::optional<record_equality> as_record_equality(const condition& test) {
  if (test.op != comparison_op::equal) return std::nullopt;
  if (test.left.is_variable() && test.right.is_record()) return record_equality{test.left.variable, &test.right};
  if (test.right.is_variable() && test.left.is_record()) return record_equality{test.right.variable, &test.left};
  return std::nullopt;
}

/// An atom with the patterns of its records, including nested records.
struct patterned_atom {
  variable_set own;                       ///< variables of the atom
  variable_set fields;                    ///< variables that only the patterns bind
  std::vector<std::uint32_t> conditions;  ///< conditions that are the patterns
  bool has_open_fields = false;
};

/// Collects the patterns of an atom.
/// @param may_open returns whether the pattern of a variable belongs to the result
template <class Predicate>
patterned_atom patterns_of(const normalized_rule& rule, std::uint32_t atom, Predicate may_open) {
  patterned_atom result;
  result.own = variables_of(rule.atoms[atom]);
  std::set<std::uint32_t> taken;
  for (bool changed = true; changed;) {
    changed = false;
    for (std::uint32_t number = 0; number < rule.conditions.size(); ++number) {
      const auto equality = as_record_equality(rule.conditions[number]);
      if (!equality || taken.contains(number)) continue;
      if (!result.own.contains(equality->record) && !result.fields.contains(equality->record)) continue;
      if (!may_open(equality->record)) continue;
      changed = true;
      taken.insert(number);
      result.conditions.push_back(number);
      for (const sema::expression& field : equality->pattern->arguments) {
        if (field.is_unnamed()) result.has_open_fields = true;
        if (field.is_variable() && !result.own.contains(field.variable)) result.fields.insert(field.variable);
      }
    }
  }
  return result;
}

patterned_atom patterns_of(const normalized_rule& rule, std::uint32_t atom) {
  return patterns_of(rule, atom, [](std::uint32_t) { return true; });
}

/// Returns the patterns written inside the atom itself. A record with a variable of its own counts as a single value.
patterned_atom patterns_within(const normalized_rule& rule, std::uint32_t atom) {
  return patterns_of(rule, atom,
                     [&rule](std::uint32_t record) { return rule.variables[record].name.starts_with('@'); });
}

/// Returns the non-record variables inside the record. The record is a function of these variables.
variable_set leaves_of(const normalized_rule& rule, const patterned_atom& patterned) {
  variable_set leaves = patterned.fields;
  for (const std::uint32_t number : patterned.conditions) {
    leaves.erase(as_record_equality(rule.conditions[number])->record);
  }
  return leaves;
}

/// Returns the variables that a row of an atom determines: the variables of the atom and of the patterns, and values
/// that conditions compute from both.
variable_set told_by(const normalized_rule& rule, const patterned_atom& from) {
  variable_set told = from.own;
  told.insert(from.fields.begin(), from.fields.end());
  const auto defines = [&told](const sema::expression& target, const sema::expression& value) {
    if (!target.is_variable() || told.contains(target.variable) || !value.is_operation()) return false;
    const variable_set used = variables_of(value);
    return std::includes(told.begin(), told.end(), used.begin(), used.end()) && told.insert(target.variable).second;
  };
  for (bool grew = true; grew;) {
    grew = false;
    for (const condition& test : rule.conditions) {
      if (test.op == comparison_op::equal) grew |= defines(test.left, test.right) || defines(test.right, test.left);
    }
  }
  return told;
}

/// Returns whether the join would search the atom from a row that determines only some fields of the atom's record.
bool is_reached_by_fields(const normalized_rule& rule, std::uint32_t atom, const patterned_atom& patterned,
                          const variable_set& members) {
  const auto is_member = [&](std::uint32_t number) { return members.contains(rule.atoms[number].relation.value); };
  bool is_recursive = false;
  for (std::uint32_t other = 0; other < rule.atoms.size(); ++other) is_recursive |= is_member(other);
  const variable_set leaves = leaves_of(rule, patterned);
  for (std::uint32_t other = 0; other < rule.atoms.size(); ++other) {
    if (other == atom) continue;
    const patterned_atom from = patterns_of(rule, other);
    // Without a delta, the first atom with patterns is scanned and later atoms are searched.
    const bool may_come_first = is_recursive ? is_member(other) : other < atom && !from.conditions.empty();
    const variable_set told = told_by(rule, from);
    if (!may_come_first || !intersect(told, patterned.fields) || intersect(told, patterned.own)) continue;
    const bool gives_all =
        !patterned.has_open_fields &&
        std::all_of(leaves.begin(), leaves.end(), [&told](std::uint32_t leaf) { return told.contains(leaf); });
    if (!gives_all) return true;
  }
  return false;
}

/// Returns whether a field of the patterns is in `told`, or is compared with a value that depends only on `told`.
bool is_searched_by_fields(const normalized_rule& rule, const patterned_atom& patterned, const variable_set& told) {
  if (intersect(told, patterned.fields)) return true;
  const auto compares = [&](const sema::expression& field, const sema::expression& value) {
    if (!field.is_variable() || !patterned.fields.contains(field.variable)) return false;
    const variable_set used = variables_of(value);
    return std::includes(told.begin(), told.end(), used.begin(), used.end());
  };
  const std::set<std::uint32_t> taken(patterned.conditions.begin(), patterned.conditions.end());
  for (std::uint32_t number = 0; number < rule.conditions.size(); ++number) {
    const condition& test = rule.conditions[number];
    const bool may_search = test.op == comparison_op::equal || ordering_of(test.op).has_value();
    if (!may_search || taken.contains(number)) continue;
    if (compares(test.left, test.right) || compares(test.right, test.left)) return true;
  }
  return false;
}

variable_set needed_elsewhere(const normalized_rule& rule, std::uint32_t atom, const patterned_atom& patterned) {
  variable_set needed;
  const auto need = [&needed](const auto& part) { needed.merge(variables_of(part)); };
  for (std::uint32_t other = 0; other < rule.atoms.size(); ++other) {
    if (other != atom) need(rule.atoms[other]);
  }
  for (const body_atom& negation : rule.negations) need(negation);
  for (const sema::expression& argument : rule.head_arguments) need(argument);
  const std::set<std::uint32_t> taken(patterned.conditions.begin(), patterned.conditions.end());
  for (std::uint32_t number = 0; number < rule.conditions.size(); ++number) {
    if (taken.contains(number)) continue;
    need(rule.conditions[number].left);
    need(rule.conditions[number].right);
  }
  return needed;
}

// ---- computed values ------------------------------------------------------------------------------------------------

/// `variable = value` in either order, with a computed value.
struct definition {
  std::uint32_t variable = 0;
  const sema::expression* value = nullptr;
  std::uint32_t condition = 0;
};

/// Returns, by variable, the definitions that depend only on the variables of `own` and on further such definitions.
std::map<std::uint32_t, definition> definitions_from(const normalized_rule& rule, const variable_set& own) {
  std::map<std::uint32_t, definition> definitions;
  const auto is_known = [&](std::uint32_t variable) {
    return own.contains(variable) || definitions.contains(variable);
  };
  const auto add = [&](const sema::expression& target, const sema::expression& value, std::uint32_t condition) {
    if (!target.is_variable() || is_known(target.variable) || !value.is_operation() || !leaves_no_trace(value)) {
      return false;
    }
    const variable_set used = variables_of(value);
    if (used.empty() || !std::all_of(used.begin(), used.end(), is_known)) return false;
    return definitions.emplace(target.variable, definition{target.variable, &value, condition}).second;
  };
  for (bool grew = true; grew;) {
    grew = false;
    for (std::uint32_t number = 0; number < rule.conditions.size(); ++number) {
      const condition& test = rule.conditions[number];
      if (test.op != comparison_op::equal) continue;
      grew |= add(test.left, test.right, number) || add(test.right, test.left, number);
    }
  }
  return definitions;
}

/// Returns whether a variable can be computed back from the value, as in sums and differences with constants
/// (body_scheduler).
bool can_be_solved(const sema::expression& value, const std::map<std::uint32_t, definition>& definitions) {
  if (value.is_variable()) {
    const auto found = definitions.find(value.variable);
    return found == definitions.end() || can_be_solved(*found->second.value, definitions);
  }
  if (!value.is_operation()) return false;
  if (value.op == scalar_op::negate_number) return can_be_solved(value.arguments[0], definitions);
  if (value.op != scalar_op::add_number && value.op != scalar_op::subtract_number) return false;
  const bool constant_left = value.arguments[0].is_constant();
  if (constant_left == value.arguments[1].is_constant()) return false;
  return can_be_solved(value.arguments[constant_left ? 1 : 0], definitions);
}

/// Returns the atom with the computed values on which other atoms of the recursion join.
patterned_atom computed_keys_of(const normalized_rule& rule, std::uint32_t atom, const variable_set& members) {
  patterned_atom result;
  result.own = variables_of(rule.atoms[atom]);
  const auto definitions = definitions_from(rule, result.own);
  if (definitions.empty()) return result;
  std::vector<std::uint32_t> wanted;
  for (std::uint32_t other = 0; other < rule.atoms.size(); ++other) {
    if (other == atom || !members.contains(rule.atoms[other].relation.value)) continue;
    for (const std::uint32_t variable : variables_of(rule.atoms[other])) {
      const auto found = definitions.find(variable);
      if (found != definitions.end() && !can_be_solved(*found->second.value, definitions)) wanted.push_back(variable);
    }
  }
  while (!wanted.empty()) {
    const std::uint32_t variable = wanted.back();
    wanted.pop_back();
    const auto found = definitions.find(variable);
    if (found == definitions.end() || !result.fields.insert(variable).second) continue;
    result.conditions.push_back(found->second.condition);
    append_variables(*found->second.value, wanted);
  }
  std::sort(result.conditions.begin(), result.conditions.end());
  return result;
}

// ---- relations ------------------------------------------------------------------------------------------------------

/// Returns a form that is equal for atoms whose conditions are equal up to the names of variables.
/// @param columns receives the needed columns, in order
std::vector<std::uint64_t> canonical_form(const normalized_rule& rule, std::uint32_t atom,
                                          const patterned_atom& patterned, const variable_set& needed,
                                          std::vector<std::uint32_t>& columns) {
  constexpr std::uint64_t unnamed = 0, constant = 1, variable = 2, operation = 3;
  std::vector<std::uint64_t> form{rule.atoms[atom].relation.value};
  std::map<std::uint32_t, std::uint64_t> numbers;
  const auto add_variable = [&](std::uint32_t named) {
    const auto [found, is_new] = numbers.emplace(named, numbers.size());
    const bool is_needed = needed.contains(named);
    if (is_new && is_needed) columns.push_back(named);
    form.insert(form.end(), {variable, 2 * found->second + (is_needed ? 1 : 0)});
  };
  for (const term& argument : rule.atoms[atom].arguments) {
    if (argument.is_variable()) {
      add_variable(argument.value);
    } else if (argument.is_constant()) {
      form.insert(form.end(), {constant, argument.literal});
    } else {
      form.push_back(unnamed);
    }
  }
  const auto add_term = [&](const auto& self, const sema::expression& tree) -> void {
    if (tree.is_variable()) return add_variable(tree.variable);
    if (tree.is_constant()) {
      form.insert(form.end(), {constant, tree.constant});
    } else if (tree.is_unnamed()) {
      form.push_back(unnamed);
    } else {
      const std::uint64_t op = tree.is_operation() ? 1 + static_cast<std::uint64_t>(tree.op) : 0;
      form.insert(form.end(), {operation, op, tree.arguments.size()});
      for (const sema::expression& argument : tree.arguments) self(self, argument);
    }
  };
  for (const std::uint32_t number : patterned.conditions) {
    add_term(add_term, rule.conditions[number].left);
    add_term(add_term, rule.conditions[number].right);
  }
  return form;
}

}  // namespace

void pattern_extraction::extract(normalized_rule& rule, const std::vector<relation_id>& members,
                                 std::vector<normalized_rule>& made) {
  if (rule.atoms.size() < 2 || !rule.plans.empty()) return;
  if (!rule.aggregations.empty() || !rule.generations.empty()) return;
  variable_set member_numbers;
  for (const relation_id member : members) member_numbers.insert(member.value);
  for (std::uint32_t atom = 0; atom < rule.atoms.size(); ++atom) {
    const patterned_atom patterned = patterns_of(rule, atom);
    if (patterned.conditions.empty() || !is_reached_by_fields(rule, atom, patterned, member_numbers)) continue;
    const variable_set needed = needed_elsewhere(rule, atom, patterned);
    std::vector<std::uint32_t> columns;
    const std::vector<std::uint64_t> form = canonical_form(rule, atom, patterned, needed, columns);
    if (columns.empty()) continue;

    read_relation(rule, atom, patterned.conditions, form, columns, "fields of records", made);
  }
  for (std::uint32_t atom = 0; atom < rule.atoms.size(); ++atom) {
    if (rule.atoms[atom].is_equivalence) continue;
    const patterned_atom computed = computed_keys_of(rule, atom, member_numbers);
    if (computed.conditions.empty()) continue;
    const variable_set needed = needed_elsewhere(rule, atom, computed);
    std::vector<std::uint32_t> columns;
    const std::vector<std::uint64_t> form = canonical_form(rule, atom, computed, needed, columns);
    read_relation(rule, atom, computed.conditions, form, columns, "computed values", made);
  }
}

void pattern_extraction::keep_named(normalized_rule& body, std::vector<normalized_rule>& made) {
  for (std::uint32_t atom = 0; atom < body.atoms.size(); ++atom) {
    patterned_atom patterned = patterns_within(body, atom);
    const std::vector<term>& arguments = body.atoms[atom].arguments;
    const bool has_open_columns = std::any_of(
        arguments.begin(), arguments.end(), [](const term& argument) { return argument.what == term::form::unnamed; });
    // A record with a variable for each field is equivalent to its fields.
    if (!patterned.has_open_fields) patterned.conditions.clear();
    if (!patterned.has_open_fields && !has_open_columns) continue;
    variable_set named = patterned.own;
    if (patterned.has_open_fields) named.merge(patterned.fields);
    for (const std::uint32_t number : patterned.conditions) {
      named.erase(as_record_equality(body.conditions[number])->record);
    }
    std::vector<std::uint32_t> columns;
    const std::vector<std::uint64_t> form = canonical_form(body, atom, patterned, named, columns);
    read_relation(body, atom, patterned.conditions, form, columns,
                  patterned.conditions.empty() ? "columns" : "fields of records", made);
  }
}

void pattern_extraction::search_fields(normalized_rule& body, const std::vector<std::uint32_t>& injected,
                                       const std::vector<relation_id>& members, std::vector<normalized_rule>& made) {
  constexpr std::uint64_t with_all_columns = 4;
  for (std::uint32_t atom = 0; atom < body.atoms.size(); ++atom) {
    const body_atom& read = body.atoms[atom];
    const patterned_atom patterned = patterns_of(body, atom);
    const bool is_complete = std::find(members.begin(), members.end(), read.relation) == members.end();
    if (patterned.conditions.empty() || read.is_equivalence || !is_complete) continue;
    variable_set told(injected.begin(), injected.end());
    for (std::uint32_t other = 0; other < body.atoms.size(); ++other) {
      if (other != atom) told.merge(told_by(body, patterns_of(body, other)));
    }
    if (intersect(told, patterned.own) || !is_searched_by_fields(body, patterned, told)) continue;

    // Includes all columns, unnamed columns under generated names, because the aggregate counts rows.
    normalized_rule named = body;
    for (term& argument : named.atoms[atom].arguments) {
      if (argument.is_variable() || argument.is_constant()) continue;
      argument = {term::form::variable, static_cast<std::uint32_t>(named.variables.size()), argument.kind};
      named.variables.push_back({fmt::format("@{}", argument.value), argument.kind});
    }
    variable_set all = variables_of(named.atoms[atom]);
    all.insert(patterned.fields.begin(), patterned.fields.end());
    std::vector<std::uint32_t> columns;
    std::vector<std::uint64_t> form = canonical_form(named, atom, patterned, all, columns);
    form.push_back(with_all_columns);
    read_relation(named, atom, patterned.conditions, form, columns, "fields of records", made);
    for (term& argument : named.atoms[atom].arguments) {
      if (argument.value >= body.variables.size()) argument = {term::form::unnamed, 0, argument.kind};
    }
    body.atoms = std::move(named.atoms);
    body.conditions = std::move(named.conditions);
  }
}

void pattern_extraction::read_relation(normalized_rule& rule, std::uint32_t atom,
                                       const std::vector<std::uint32_t>& conditions,
                                       const std::vector<std::uint64_t>& form,
                                       const std::vector<std::uint32_t>& columns, const char* content,
                                       std::vector<normalized_rule>& made) {
  const auto [known, is_new] = known_.try_emplace(form);
  const relation_id source = rule.atoms[atom].relation;
  if (is_new) {
    normalized_rule& added = made.emplace_back();
    added.words = rule.words;
    added.id = rule.id;
    added.location = rule.location;
    added.variables = rule.variables;
    added.atoms = {rule.atoms[atom]};
    for (const std::uint32_t number : conditions) added.conditions.push_back(rule.conditions[number]);
    std::vector<std::string> names;
    std::vector<value_kind> kinds;
    for (const std::uint32_t column : columns) {
      added.head_arguments.push_back(variable_expression(rule, column));
      names.push_back(rule.variables[column].name);
      kinds.push_back(rule.variables[column].kind);
    }
    known->second = make_relation_(source, names, std::move(kinds));
    added.head = known->second;
    added.text =
        fmt::format("{}({}) :- {} of {}.", name_of_(known->second), fmt::join(names, ","), content, name_of_(source));
  }
  body_atom reading;
  reading.relation = known->second;
  for (const std::uint32_t column : columns) {
    reading.arguments.push_back({term::form::variable, column, rule.variables[column].kind});
  }
  rule.atoms[atom] = std::move(reading);
  const std::set<std::uint32_t> taken(conditions.begin(), conditions.end());
  std::uint32_t number = 0;
  std::erase_if(rule.conditions, [&](const condition&) { return taken.contains(number++); });
}

void project_counted_atoms(planning& shared, normalized_rule& rule) {
  for (aggregation& folded : rule.aggregations) {
    if (folded.by_assignment) {
      std::vector<normalized_rule> made;
      shared.patterns.keep_named(folded.body, made);
      for (normalized_rule& one : made) shared.plan_before(std::move(one));
    }
    project_counted_atoms(shared, folded.body);
  }
}

void search_aggregated_fields(planning& shared, normalized_rule& rule, const rule_scope& scope) {
  for (aggregation& folded : rule.aggregations) {
    std::vector<normalized_rule> made;
    shared.patterns.search_fields(folded.body, folded.injected, scope.members, made);
    for (normalized_rule& one : made) shared.plan_before(std::move(one));
    search_aggregated_fields(shared, folded.body, scope);
  }
}

void join_by_computed_keys(planning& shared, stratum_rules& stratum) {
  if (!stratum.may_factor) return;
  const std::vector<relation_id> members = stratum.recursive ? stratum.members : std::vector<relation_id>();
  std::vector<normalized_rule> made;
  for (normalized_rule& rule : stratum.plain) shared.patterns.extract(rule, members, made);
  for (normalized_rule& rule : made) {
    shared.remark(fmt::format("{}: computed values that join atoms in {}", rule.text, rule.location));
    const bool is_within = std::find(members.begin(), members.end(), rule.atoms.front().relation) != members.end();
    (is_within ? stratum.patterns : shared.before).push_back(std::move(rule));
  }
}

}  // namespace gpulog::plan
