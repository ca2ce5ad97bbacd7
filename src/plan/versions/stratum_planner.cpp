#include "plan/versions/stratum_planner.hpp"

#include <algorithm>
#include <iterator>
#include <map>
#include <memory>
#include <optional>
#include <utility>

#include "plan/pass.hpp"
#include "plan/rules/subsumption.hpp"

namespace gpulog::plan {
namespace {

bool is_member(const stratum_builder& stratum, relation_id relation) {
  return std::find(stratum.relations.begin(), stratum.relations.end(), relation) != stratum.relations.end();
}

/// Returns the atoms that may find erased rows. Subsumptions of a non-recursive stratum erase rows before they are
/// read.
std::vector<bool> tested_atoms(const planning& shared, const normalized_rule& rule, const stratum_builder& stratum) {
  std::vector<bool> tested;
  const bool erases = stratum.recursive && !stratum.losing.empty();
  if (!erases && shared.chosen.losing.empty()) return tested;
  for (const body_atom& atom : rule.atoms) {
    tested.push_back((erases && stratum.losing.contains(atom.relation)) ||
                     shared.result.relations[atom.relation.value].loses_tuples);
  }
  return tested;
}

void add_version(planning& shared, const std::shared_ptr<const normalized_rule>& rule, const version_parts& parts,
                 const std::vector<std::uint32_t>* forced, phase_builder& target) {
  target.versions.push_back(order_version(shared, *rule, parts, forced));
  target.recipes.push_back({rule, parts, forced != nullptr, target.versions.back().atom_order});
}

/// Adds a version for each atom of the own stratum. Exactly one version then finds a combination of rows: the version
/// whose delta atom is the last atom with a new row. Hence old rows before the delta atom, and all rows after the atom.
/// @param level phase of the loop that the versions belong to
void plan_rule(planning& shared, const std::shared_ptr<const normalized_rule>& kept, stratum_builder& target,
               std::uint32_t level) {
  const normalized_rule& rule = *kept;
  std::vector<std::uint32_t> recursive;
  for (std::uint32_t atom = 0; atom < rule.atoms.size(); ++atom) {
    if (target.recursive && is_member(target, rule.atoms[atom].relation)) recursive.push_back(atom);
  }
  version_parts parts;
  parts.atoms.assign(rule.atoms.size(), row_part::all);
  parts.tested = tested_atoms(shared, rule, target);
  if (recursive.empty()) {
    add_version(shared, kept, parts, forced_order(rule, 0), target.once);
    return;
  }
  for (std::uint32_t version = 0; version < recursive.size(); ++version) {
    parts.delta_atom = recursive[version];
    parts.atoms[recursive[version]] = row_part::delta;
    // Subsumptions erase no rows of delta.
    const std::vector<bool> tested = parts.tested;
    if (!tested.empty()) parts.tested[recursive[version]] = false;
    add_version(shared, kept, parts, forced_order(rule, version), target.loop[level]);
    parts.tested = tested;
    parts.atoms[recursive[version]] = row_part::old;
  }
}

void plan_rule(planning& shared, normalized_rule planned, stratum_builder& target, std::uint32_t level) {
  plan_rule(shared, std::make_shared<const normalized_rule>(std::move(planned)), target, level);
}

/// Creates supplementary relations for steps of the rules. Takes over remarks, and statistics of values from the rules
/// of new relations.
factored_stratum factor_rules(planning& shared, std::vector<normalized_rule> rules,
                              const std::vector<relation_id>& members, std::vector<normalized_rule> patterns) {
  const bool makes_steps = !shared.is_off(supplementary_pass);
  std::optional<pass_timer> timer;
  if (makes_steps) timer.emplace(shared, supplementary_pass);
  factored_stratum factored = factor(std::move(rules), members, shared.source, shared.make_relation, shared.name_of,
                                     std::move(patterns), makes_steps);
  for (const factored_rule& made : factored.rules) {
    if (made.rule.head.value >= shared.source.relations.size()) shared.costs.learn_distinct_values(made.rule);
  }
  for (std::string& remark : factored.remarks) shared.remark(std::move(remark));
  return factored;
}

void plan_rules(planning& shared, stratum_rules rules, stratum_builder& target) {
  target.relations = rules.members;
  if (target.recursive && rules.may_factor) {
    factored_stratum factored = factor_rules(shared, std::move(rules.plain), rules.members, std::move(rules.patterns));
    target.relations.insert(target.relations.end(), factored.added.begin(), factored.added.end());
    target.loop.resize(factored.own_level + 1);
    for (std::size_t number = 0; number < factored.added.size(); ++number) {
      target.loop[factored.levels[number]].advance.push_back(factored.added[number]);
    }
    target.supplementary = std::move(rules.reduced);
    target.supplementary.insert(target.supplementary.end(),
                                factored.added.begin() + static_cast<std::ptrdiff_t>(factored.patterns),
                                factored.added.end());
    for (factored_rule& one : factored.rules) plan_rule(shared, std::move(one.rule), target, one.level);
  } else {
    if (target.recursive) target.loop.resize(1);
    for (normalized_rule& rule : rules.plain) plan_rule(shared, std::move(rule), target, 0);
  }
  for (normalized_rule& rule : rules.other) {
    plan_rule(shared, std::move(rule), target,
              target.recursive ? static_cast<std::uint32_t>(target.loop.size() - 1) : 0);
  }
  if (target.recursive) target.loop.back().advance = rules.members;
  target.once.advance = target.relations;
}

/// Plans the whole relation after the stratum that computed only a part of it. Steps that lose variables become
/// relations, too.
void plan_behind(planning& shared, relation_id relation, std::vector<normalized_rule> rules,
                 const std::vector<relation_id>& members) {
  const bool is_recursive = std::any_of(rules.begin(), rules.end(), [relation](const normalized_rule& rule) {
    return std::any_of(rule.atoms.begin(), rule.atoms.end(),
                       [relation](const body_atom& atom) { return atom.relation == relation; });
  });
  if (is_recursive) {
    stratum_builder& target = shared.strata.emplace_back();
    target.recursive = true;
    plan_rules(shared, {std::move(rules), {}, {}, {relation}, true, true}, target);
    return;
  }
  factored_stratum factored = factor_rules(shared, std::move(rules), members, {});
  const auto plan_relation = [&](relation_id planned) {
    stratum_builder& target = shared.strata.emplace_back();
    target.relations = {planned};
    for (factored_rule& made : factored.rules) {
      if (made.rule.head == planned) plan_rule(shared, std::move(made.rule), target, 0);
    }
    target.once.advance = target.relations;
  };
  for (std::uint32_t level = 0; level < factored.own_level; ++level) {
    for (std::size_t number = 0; number < factored.added.size(); ++number) {
      if (factored.levels[number] != level) continue;
      plan_relation(factored.added[number]);
      shared.strata.back().supplementary = {factored.added[number]};
    }
  }
  plan_relation(relation);
}

/// Finds relations with a single subsumption that orders a column. Excludes subsumptions that read relations of the
/// stratum, whose result could depend on the time at which a tuple is erased.
void find_best(planning& shared, const stratum_builder& planned) {
  for (const subsumption_builder& made : planned.subsumptions) {
    const auto& lattices = shared.source[made.planned.relation].lattices;
    if (lattices.empty()) continue;
    best_of_key& kept = shared.result.relations[made.planned.relation.value].best.emplace();
    for (const auto& attribute : lattices) kept.bounds.push_back({attribute.column, attribute.least_upper_bound});
  }
  std::map<relation_id, std::size_t> count;
  for (const subsumption_builder& made : planned.subsumptions) {
    if (!made.planned.changing.empty()) return;
    ++count[made.planned.relation];
  }
  for (const subsumption_builder& made : planned.subsumptions) {
    const relation_id id = made.planned.relation;
    if (!shared.source[id].lattices.empty()) continue;
    relation& own = shared.result.relations[id.value];
    own.best.reset();
    if (count[id] != 1) continue;
    own.best = best_of(made, shared.arities[id.value]);
    if (!own.best) continue;
    own.best->priority_delta = shared.source[id].priority_delta;
    // NaNs neither are nor have better values: a subsumption keeps all of them.
    const bool is_floating = own.kinds[own.best->column] == value_kind::floating;
    if (is_floating && !shared.source[id].is_aggregate) own.best.reset();
  }
}

}  // namespace

version_builder order_version(planning& shared, const normalized_rule& rule, const version_parts& parts,
                              const std::vector<std::uint32_t>* forced) {
  return build_ordered(shared, rule, parts, order_body(rule, parts, shared.costs, forced));
}

version_builder build_ordered(planning& shared, const normalized_rule& rule, const version_parts& parts,
                              schedule order) {
  for (const schedule_pass& one : schedule_passes()) run_pass(one, shared, rule, order);
  version_builder ordered = build_version(rule, parts, order);
  for (const version_pass& one : version_passes()) run_pass(one, shared, ordered);
  return ordered;
}

void plan_loop_rule(planning& shared, const std::shared_ptr<const normalized_rule>& rule, stratum_builder& target) {
  plan_rule(shared, rule, target, static_cast<std::uint32_t>(target.loop.size() - 1));
}

void plan_strata_before(planning& shared) {
  std::vector<normalized_rule> rules = std::exchange(shared.before, {});
  for (std::size_t first = 0; first < rules.size();) {
    const relation_id head = rules[first].head;
    stratum_builder& target = shared.strata.emplace_back();
    target.relations = {head};
    for (; first < rules.size() && rules[first].head == head; ++first)
      plan_rule(shared, std::move(rules[first]), target, 0);
    target.once.advance = target.relations;
  }
}

void plan_stratum(planning& shared, stratum_rules rules, const std::vector<normalized_rule>& subsumptions) {
  stratum_builder& target = shared.strata.emplace_back();
  target.recursive = rules.recursive;
  for (const normalized_rule& rule : subsumptions) target.losing.insert(rule.head);
  std::vector<restriction> restrictions = std::move(rules.restrictions);
  const std::vector<relation_id> members = rules.members;
  plan_rules(shared, std::move(rules), target);
  for (const normalized_rule& rule : subsumptions) {
    subsumption_builder& added = target.subsumptions.emplace_back(
        build_subsumption(rule, tested_atoms(shared, rule, target), shared.costs, shared.arities));
    for (std::size_t atom = 2; atom < rule.atoms.size(); ++atom) {
      const relation_id read = rule.atoms[atom].relation;
      if (is_member(target, read)) added.planned.changing.push_back(read);
    }
  }
  find_best(shared, target);
  // The full rules of a relation may read relations that were restricted after it.
  for (auto one = restrictions.rbegin(); one != restrictions.rend(); ++one) {
    plan_behind(shared, one->relation, std::move(one->full), members);
  }
}

}  // namespace gpulog::plan
