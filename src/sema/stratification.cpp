#include "sema/stratification.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <set>

#include "sema/aggregates/recursive_aggregates.hpp"
#include "sema/checks/extensions.hpp"
#include "sema/strong_components.hpp"

namespace gpulog::sema {

namespace {

/// Calls action(atom, in_aggregate) for the atoms of a body whose relations must be complete before the head's
/// evaluation.
template <class Action>
void for_each_needed(const std::vector<literal>& body, bool in_aggregate, const Action& action) {
  for (const literal& part : body) {
    if (const atom* one = std::get_if<atom>(&part)) {
      if (in_aggregate || one->negated) action(*one, in_aggregate);
    }
    const aggregate* const folded = std::get_if<aggregate>(&part);
    if (folded != nullptr && !folded->grows) for_each_needed(folded->body, true, action);
  }
}

std::set<dependency> dependencies_of_rules(const program& program) {
  std::set<dependency> found;
  const auto add = [&](const rule& rule, std::size_t first_literal) {
    for (std::size_t position = first_literal; position < rule.body.size(); ++position) {
      if (const atom* body = std::get_if<atom>(&rule.body[position])) {
        found.insert({body->relation, rule.head.relation, body->negated});
      }
    }
    for_each_needed(rule.body, false, [&](const atom& body, bool) {
      found.insert({body.relation, rule.head.relation, true});
    });
  };
  for (const rule& rule : program.rules) add(rule, 0);
  // Comparing two tuples of a relation does not make the relation recursive.
  for (const rule& rule : program.subsumptions) add(rule, 2);
  return found;
}

void collect_dependencies(program& program, const std::vector<dependency>& further) {
  std::set<dependency> found = dependencies_of_rules(program);
  found.insert(further.begin(), further.end());
  program.dependencies.assign(found.begin(), found.end());
}

/// Mutually dependent relations, in the order of evaluation, by number.
struct components {
  std::vector<std::vector<std::uint32_t>> members;
  std::vector<std::uint32_t> component_of;  ///< by relation
  std::set<std::uint32_t> self_dependent;   ///< relations that depend on themselves
};

components components_of(const program& program) {
  components found;
  graph needs(program.relations.size());
  for (const dependency& edge : program.dependencies) {
    needs[edge.to.value].push_back(edge.from.value);
    if (edge.from == edge.to) found.self_dependent.insert(edge.to.value);
  }
  found.members = strong_components(needs);
  found.component_of.resize(program.relations.size());
  for (std::uint32_t number = 0; number < found.members.size(); ++number) {
    for (std::uint32_t member : found.members[number]) found.component_of[member] = number;
  }
  return found;
}

void make_strata(program& program, const components& found) {
  program.strata.clear();
  for (const auto& component : found.members) {
    stratum result;
    for (std::uint32_t member : component) {
      result.relations.emplace_back(member);
    }
    result.recursive = component.size() > 1 || found.self_dependent.contains(component.front());
    program.strata.push_back(std::move(result));
  }
  for (relation& relation : program.relations) relation.rules.clear();
  for (const rule& rule : program.rules) {
    program.strata[found.component_of[rule.head.relation.value]].rules.push_back(rule.id);
    program.relations[rule.head.relation.value].rules.push_back(rule.id);
  }
}

void report_negation_in_cycle(const program& program, const stratum& stratum,
                              const std::vector<std::uint32_t>& stratum_of, const aggregate_refusal* refusal,
                              diagnostics& diagnostics) {
  std::vector<const rule*> rules;
  for (rule_id id : stratum.rules) rules.push_back(&program[id]);
  for (relation_id member : stratum.relations) {
    for (const std::uint32_t number : program[member].subsumptions) rules.push_back(&program.subsumptions[number]);
  }
  for (const rule* const checked : rules) {
    const atom* cyclic = nullptr;
    bool by_aggregate = false;
    for_each_needed(checked->body, false, [&](const atom& body, bool in_aggregate) {
      if (cyclic != nullptr || stratum_of[body.relation.value] != stratum_of[checked->head.relation.value]) return;
      cyclic = &body;
      by_aggregate = in_aggregate;
    });
    if (cyclic == nullptr) continue;
    std::string names;
    for (relation_id member : stratum.relations) {
      if (!names.empty()) names += ",";
      names += program[member].name;
    }
    const relation& needed = program[cyclic->relation];
    diagnostics::entry& error =
        diagnostics.error(needed.span, fmt::format("Unable to stratify relation(s) {{{}}}", names));
    error.note(needed.span, "Relation " + needed.name);
    error.note(cyclic->span, by_aggregate ? "has cyclic aggregation" : "has cyclic negation");
    if (by_aggregate && refusal != nullptr) error.note(refusal->span, refusal->reason);
    return;
  }
}

}  // namespace

void stratify(program& program, const std::vector<dependency>& further, diagnostics& diagnostics) {
  collect_dependencies(program, further);
  const components found = components_of(program);
  if (diagnostics.wants(warning_kind::portable)) warn_of_recursive_aggregates(program, found.component_of, diagnostics);
  const std::map<std::uint32_t, aggregate_refusal> refusals = unfold_recursive_aggregates(program, found.component_of);
  collect_dependencies(program, further);  // unfolding has moved atoms of aggregates into the rules
  make_strata(program, found);
  for (std::uint32_t number = 0; number < program.strata.size(); ++number) {
    const auto refusal = refusals.find(number);
    if (!program.strata[number].recursive) continue;
    report_negation_in_cycle(program, program.strata[number], found.component_of,
                             refusal == refusals.end() ? nullptr : &refusal->second, diagnostics);
  }
}

std::vector<dependency> further_dependencies(const program& program) {
  const std::set<dependency> of_rules = dependencies_of_rules(program);
  std::vector<dependency> further;
  std::set_difference(program.dependencies.begin(), program.dependencies.end(), of_rules.begin(), of_rules.end(),
                      std::back_inserter(further));
  return further;
}

std::vector<bool> stratify_again(program& program, const std::vector<dependency>& further) {
  collect_dependencies(program, further);
  const components found = components_of(program);
  make_strata(program, found);
  std::vector<bool> is_cyclic(program.strata.size());
  for (const dependency& edge : program.dependencies) {
    const std::uint32_t number = found.component_of[edge.to.value];
    if (edge.negated && found.component_of[edge.from.value] == number) is_cyclic[number] = true;
  }
  return is_cyclic;
}

}  // namespace gpulog::sema
