#include "engine/again/affected.hpp"

#include <algorithm>
#include <variant>

namespace gpulog::detail {
namespace {

void visit_atoms(const std::vector<sema::literal>& body, bool is_monotone,
                 const std::function<void(const sema::atom& read, bool is_monotone)>& visit) {
  for (const sema::literal& literal : body) {
    if (const auto* read = std::get_if<sema::atom>(&literal)) visit(*read, is_monotone && !read->negated);
    if (const auto* folded = std::get_if<sema::aggregate>(&literal))
      visit_atoms(folded->body, is_monotone && folded->grows, visit);
  }
}

/// Calls visit(rule) for the rules and subsumptions of a stratum.
template <class Visit>
void for_each_rule(const sema::program& analysed, const sema::stratum& stratum, const Visit& visit) {
  for (const rule_id id : stratum.rules) visit(analysed[id]);
  for (const relation_id member : stratum.relations) {
    for (const std::uint32_t number : analysed[member].subsumptions) visit(analysed.subsumptions[number]);
  }
}

}  // namespace

void for_each_atom(const std::vector<sema::literal>& body,
                   const std::function<void(const sema::atom& read, bool is_monotone)>& visit) {
  visit_atoms(body, true, visit);
}

std::vector<bool> affected_by(const sema::program& analysed, const std::vector<bool>& changed) {
  std::vector<bool> affected = changed;
  for (const sema::stratum& stratum : analysed.strata) {
    bool reached = std::any_of(stratum.relations.begin(), stratum.relations.end(),
                               [&](relation_id member) { return is_in(affected, member); });
    for_each_rule(analysed, stratum, [&](const sema::rule& rule) {
      for_each_atom(rule.body,
                    [&](const sema::atom& read, bool) { reached = reached || is_in(affected, read.relation); });
    });
    // Dependencies of debug_delta appear in no atom.
    for (const sema::dependency& edge : analysed.dependencies) {
      const bool is_here =
          std::find(stratum.relations.begin(), stratum.relations.end(), edge.to) != stratum.relations.end();
      reached = reached || (is_here && is_in(affected, edge.from));
    }
    for (const relation_id member : stratum.relations) affected[member.value] = reached;
  }
  return affected;
}

bool is_any(const std::vector<bool>& relations) {
  return std::find(relations.begin(), relations.end(), true) != relations.end();
}

std::vector<bool> without(std::vector<bool> relations, const std::vector<bool>& others) {
  for (std::size_t number = 0; number < relations.size(); ++number)
    relations[number] = relations[number] && !others[number];
  return relations;
}

std::vector<bool> united(std::vector<bool> relations, const std::vector<bool>& others) {
  for (std::size_t number = 0; number < relations.size(); ++number)
    relations[number] = relations[number] || others[number];
  return relations;
}

std::vector<bool> read_by(const sema::program& analysed, const std::vector<bool>& affected) {
  std::vector<bool> read(analysed.relations.size());
  for (const sema::stratum& stratum : analysed.strata) {
    if (!is_in(affected, stratum.relations.front())) continue;
    for_each_rule(analysed, stratum, [&](const sema::rule& rule) {
      for_each_atom(rule.body, [&](const sema::atom& one, bool) { read[one.relation.value] = true; });
    });
  }
  return read;
}

sema::program part_of(const sema::program& analysed, const std::vector<bool>& affected) {
  sema::program part = analysed;
  part.facts.clear();
  for (std::size_t number = 0; number < part.relations.size(); ++number) {
    if (affected[number]) continue;
    sema::relation& input = part.relations[number];
    input.rules.clear();
    input.subsumptions.clear();
    input.choice_domains.clear();
    input.lattices.clear();
    input.size_limit.reset();
    input.priority_delta = input.is_aggregate = false;
  }
  for (sema::stratum& stratum : part.strata) {
    if (is_in(affected, stratum.relations.front())) continue;
    stratum.rules.clear();
    stratum.recursive = false;
  }
  return part;
}

bool is_plain_input(const sema::relation& relation) {
  return relation.rules.empty() && relation.subsumptions.empty() && relation.choice_domains.empty() &&
         relation.lattices.empty() && relation.structure != sema::representation::eqrel;
}

}  // namespace gpulog::detail
