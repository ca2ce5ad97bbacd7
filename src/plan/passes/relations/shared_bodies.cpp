#include "plan/passes/relations/shared_bodies.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <set>
#include <utility>

#include "plan/cost/calibration.hpp"
#include "plan/pass.hpp"
#include "plan/passes/bodies/repetitions.hpp"

namespace gpulog::plan {
namespace {

/// Returns whether sharing pays. Two heads save one join and cost one relation, which does not pay for a join of two
/// atoms.
bool is_worth_it(std::size_t readers, std::size_t atoms) { return readers >= 3 || (readers == 2 && atoms >= 3); }

/// Returns whether the value depends on when, or how often, the expression is evaluated.
bool observes(const sema::expression& tree) {
  const bool itself =
      tree.is_operation() && (tree.op == scalar_op::next_counter || tree.op == scalar_op::iteration_number);
  return itself || std::any_of(tree.arguments.begin(), tree.arguments.end(), observes);
}

/// Returns the body as a rule whose head contains the variables that the original head needs, in the order of the body.
std::optional<normalized_rule> rule_of_body(const normalized_rule& rule) {
  if (rule.unsatisfiable || rule.atoms.size() < calibration::shared_atoms || !rule.plans.empty()) return std::nullopt;
  if (!rule.aggregations.empty() || !rule.generations.empty()) return std::nullopt;
  if (std::any_of(rule.head_arguments.begin(), rule.head_arguments.end(), observes)) return std::nullopt;
  std::vector<std::uint32_t> of_head;
  for (const sema::expression& argument : rule.head_arguments) append_variables(argument, of_head);
  std::vector<std::uint32_t> of_body;
  for (const body_atom& atom : rule.atoms) append_variables(atom, of_body);
  for (const condition& test : rule.conditions) {
    if (observes(test.left) || observes(test.right)) return std::nullopt;
    append_variables(test.left, of_body);
    append_variables(test.right, of_body);
  }
  std::set<std::uint32_t> needed(of_head.begin(), of_head.end());
  if (needed.empty()) return std::nullopt;
  normalized_rule result = rule;
  result.head = {};
  result.head_arguments.clear();
  for (const std::uint32_t variable : of_body) {
    if (needed.erase(variable) != 0) result.head_arguments.push_back(variable_expression(rule, variable));
  }
  if (!needed.empty()) return std::nullopt;
  return result;
}

/// Returns whether each variable of the head is also an argument by itself. The head then has at least as many rows as
/// the shared relation.
bool has_all_rows(const normalized_rule& rule) {
  std::set<std::uint32_t> columns;
  std::vector<std::uint32_t> used;
  for (const sema::expression& argument : rule.head_arguments) {
    append_variables(argument, used);
    if (argument.is_variable()) columns.insert(argument.variable);
  }
  return std::all_of(used.begin(), used.end(),
                     [&columns](std::uint32_t variable) { return columns.contains(variable); });
}

/// Returns the stratum of each relation.
std::vector<std::size_t> strata_of(const sema::program& source) {
  std::vector<std::size_t> result(source.relations.size());
  for (std::size_t number = 0; number < source.strata.size(); ++number) {
    for (const relation_id member : source.strata[number].relations) result[member.value] = number;
  }
  return result;
}

}  // namespace

shared_bodies::shared_bodies(const sema::program& source, const std::vector<bool>& needed) : source_(source) {
  const std::vector<std::size_t> stratum_of = strata_of(source);
  for (std::size_t begin = 0, end = 0; begin < source.rules.size(); begin = end) {
    const sema::rule& first = source.rules[begin];
    bool has_heads = false;
    for (end = begin + 1; end < source.rules.size() && source.rules[end].span == first.span; ++end) {
      has_heads |= source.rules[end].head.span != first.head.span;
    }
    if (!has_heads) continue;
    struct candidate {
      std::vector<rule_id> rules;
      std::size_t atoms = 0;
      bool is_bounded = false;  ///< a head has as many rows as the relation
    };
    std::map<std::vector<std::uint64_t>, candidate> found;
    for (std::size_t number = begin; number < end; ++number) {
      const sema::rule& rule = source.rules[number];
      if (!needed[rule.head.relation.value]) continue;
      normalized_rule normal = normalize(rule, source.words);
      const auto is_inside = [&](const body_atom& atom) {
        return stratum_of[atom.relation.value] == stratum_of[rule.head.relation.value];
      };
      if (std::any_of(normal.atoms.begin(), normal.atoms.end(), is_inside)) continue;
      drop_repeated_literals(normal);
      const auto body_rule = rule_of_body(normal);
      const auto key = body_rule ? rule_key(*body_rule) : std::nullopt;
      if (!key) continue;
      candidate& shared = found[*key];
      shared.rules.push_back(rule.id);
      shared.atoms = normal.atoms.size();
      shared.is_bounded |= has_all_rows(normal);
    }
    for (const auto& [key, shared] : found) {
      if (!shared.is_bounded || !is_worth_it(shared.rules.size(), shared.atoms)) continue;
      for (const rule_id id : shared.rules) body_of_[id] = bodies_.size();
      bodies_.push_back({shared.rules.size(), {}});
    }
  }
}

std::optional<normalized_rule> shared_bodies::share(normalized_rule& rule, const relation_maker& make_relation,
                                                    const relation_namer& name_of) {
  const auto found = body_of_.find(rule.id);
  if (found == body_of_.end()) return std::nullopt;
  body& shared = bodies_[found->second];
  auto made = rule_of_body(rule);
  if (!made) return std::nullopt;
  body_atom read;
  std::vector<std::string> names;
  std::vector<value_kind> kinds;
  for (const sema::expression& argument : made->head_arguments) {
    read.arguments.push_back(variable_term(rule, argument.variable));
    names.push_back(rule.variables[argument.variable].name);
    kinds.push_back(argument.kind);
  }
  const bool is_new = !shared.made.valid();
  if (is_new) {
    shared.made = make_relation(rule.head, std::move(names), std::move(kinds));
    readers_ = shared.readers;
  }
  read.relation = shared.made;
  rule.atoms = {std::move(read)};
  rule.negations.clear();
  rule.conditions.clear();
  rule.text = text_of(rule, source_, name_of);
  if (!is_new) return std::nullopt;
  made->head = shared.made;
  made->text = text_of(*made, source_, name_of);
  return made;
}

void share_body(planning& shared, normalized_rule& rule) {
  if (!shared.bodies) shared.bodies.emplace(shared.source, shared.needed);
  auto made = shared.bodies->share(rule, shared.make_relation, shared.name_of);
  if (!made) return;
  shared.remark(fmt::format("{}: the body of {} rules in {}, evaluated once", shared.name_of(made->head),
                            shared.bodies->readers(), made->location));
  shared.costs.learn_distinct_values(*made);
  shared.before.push_back(std::move(*made));
}

}  // namespace gpulog::plan
