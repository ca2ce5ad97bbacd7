#include "engine/again/continuation.hpp"

#include <algorithm>
#include <iterator>
#include <utility>
#include <variant>

#include "engine/again/affected.hpp"
#include "sema/order_dependence.hpp"
#include "sema/rewriting/assignments.hpp"

namespace gpulog::detail {
namespace {

/// Returns whether the relation keeps its tuples, or replaces values only with better values (a recursive minimum or
/// maximum), independently of the order of tuples.
bool only_grows(const sema::relation& relation, bool loses) {
  if (loses &&
      (relation.is_aggregate || relation.attributes.empty() || relation.structure == sema::representation::eqrel))
    return false;
  return (relation.subsumptions.empty() || relation.is_aggregate) && relation.choice_domains.empty() &&
         relation.lattices.empty() && !relation.size_limit;
}

bool reads_some(const sema::rule& rule, const std::vector<bool>& relations) {
  bool reads = false;
  for_each_atom(rule.body, [&](const sema::atom& one, bool) { reads = reads || is_in(relations, one.relation); });
  return reads;
}

/// Returns whether an atom causes the dependency; dependencies of debug_delta have no atom.
bool is_shown(const sema::program& analysed, const sema::stratum& stratum, const sema::dependency& edge) {
  return std::any_of(stratum.rules.begin(), stratum.rules.end(), [&](rule_id id) {
    bool reads = false;
    for_each_atom(analysed[id].body, [&](const sema::atom& one, bool) { reads = reads || one.relation == edge.from; });
    return reads && analysed[id].head.relation == edge.to;
  });
}

/// Returns whether a count or sum leaves columns unnamed in relations that were complete before the recursion: the
/// projection of these columns was computed earlier and would be stale. Inside a recursion, the analysis rejects this.
bool counts_unnamed(const sema::rule& rule, const std::vector<bool>& affected) {
  return std::any_of(rule.body.begin(), rule.body.end(), [&](const sema::literal& part) {
    const auto* folded = std::get_if<sema::aggregate>(&part);
    if (folded == nullptr || !sema::counts_assignments(*folded, rule.variables)) return false;
    return std::any_of(folded->body.begin(), folded->body.end(), [&](const sema::literal& inner) {
      const auto* read = std::get_if<sema::atom>(&inner);
      return read != nullptr && is_in(affected, read->relation) &&
             sema::leaves_unnamed(*read, folded->body, rule.variables);
    });
  });
}

bool has_record(const sema::expression& tree) {
  return tree.is_record() || std::any_of(tree.arguments.begin(), tree.arguments.end(), has_record);
}

/// Returns whether a rule can search derivations of a given head: its aggregates read no affected relation, and its
/// head can be computed in a test.
bool is_plain(const sema::rule& rule, const std::vector<bool>& affected) {
  const bool has_plain_body = std::none_of(rule.body.begin(), rule.body.end(), [&](const sema::literal& part) {
    const auto* folded = std::get_if<sema::aggregate>(&part);
    bool reads = false;
    if (folded != nullptr)
      for_each_atom(folded->body, [&](const sema::atom& one, bool) { reads = reads || is_in(affected, one.relation); });
    return reads;
  });
  return has_plain_body && std::none_of(rule.head.arguments.begin(), rule.head.arguments.end(), has_record);
}

/// @param growing relations of earlier strata, and the relations of this stratum
bool grows_with(const sema::program& analysed, const sema::stratum& stratum, const std::vector<bool>& affected,
                const std::vector<bool>& growing, bool loses) {
  const bool has_state = sema::has_stateful_functors(analysed);
  const auto& members = stratum.relations;
  const auto is_member = [&](relation_id id) { return std::find(members.begin(), members.end(), id) != members.end(); };
  // Only the recursion that computes best values is known to be monotone in the values.
  const auto only_gets_more = [&](relation_id id) {
    return is_in(growing, id) && (!analysed[id].is_aggregate || is_member(id));
  };
  for (const rule_id id : stratum.rules) {
    if (sema::notices_order(analysed[id], has_state) || counts_unnamed(analysed[id], affected)) return false;
    if (loses && !is_plain(analysed[id], affected)) return false;
    bool grows = true;
    for_each_atom(analysed[id].body, [&](const sema::atom& one, bool is_monotone) {
      grows = grows && (!is_in(affected, one.relation) || (is_monotone && only_gets_more(one.relation)));
    });
    if (!grows) return false;
  }
  return std::all_of(analysed.dependencies.begin(), analysed.dependencies.end(), [&](const sema::dependency& edge) {
    return !is_member(edge.to) || !is_in(affected, edge.from) || is_shown(analysed, stratum, edge);
  });
}

}  // namespace

std::vector<bool> growing_from(const sema::program& analysed, const std::vector<bool>& affected,
                               const std::vector<bool>& erased, bool loses) {
  std::vector<bool> growing(affected.size());
  for (const sema::stratum& stratum : analysed.strata) {
    const auto& members = stratum.relations;
    if (!is_in(affected, members.front())) continue;
    const bool may_grow = std::all_of(members.begin(), members.end(), [&](relation_id member) {
      return !is_in(erased, member) && only_grows(analysed[member], loses);
    });
    for (const relation_id member : members) growing[member.value] = may_grow;
    if (may_grow && grows_with(analysed, stratum, affected, growing, loses)) continue;
    for (const relation_id member : members) growing[member.value] = false;
  }
  return growing;
}

sema::program recursion_of(const sema::program& analysed, const std::vector<bool>& growing) {
  sema::program part = part_of(analysed, growing);
  sema::stratum recursion;
  recursion.recursive = true;
  for (const sema::stratum& stratum : part.strata) {
    if (!is_in(growing, stratum.relations.front())) continue;
    recursion.relations.insert(recursion.relations.end(), stratum.relations.begin(), stratum.relations.end());
    std::copy_if(stratum.rules.begin(), stratum.rules.end(), std::back_inserter(recursion.rules),
                 [&](rule_id id) { return reads_some(part[id], growing); });
  }
  std::erase_if(part.strata, [&](const sema::stratum& stratum) { return is_in(growing, stratum.relations.front()); });
  for (sema::relation& relation : part.relations)
    std::erase_if(relation.rules, [&](rule_id id) { return !reads_some(part[id], growing); });
  // The orders of `.plan` refer to version numbers in the original strata.
  for (sema::rule& rule : part.rules) rule.plans.clear();
  part.strata.push_back(std::move(recursion));
  return part;
}

namespace {

relation_id add_relation_like(const sema::relation& other, const char* purpose, sema::program& part) {
  sema::relation& added = part.relations.emplace_back();
  added.name = other.name + "@" + purpose;
  added.attributes = other.attributes;
  return relation_id(static_cast<std::uint32_t>(part.relations.size() - 1));
}

void add_rule(sema::rule rule, relation_id head, sema::program& part, sema::stratum& stratum) {
  rule.id = rule_id(static_cast<std::uint32_t>(part.rules.size()));
  rule.head.relation = head;
  rule.plans.clear();
  part.relations[head.value].rules.push_back(rule.id);
  stratum.rules.push_back(rule.id);
  part.rules.push_back(std::move(rule));
}

/// Returns the rule with an additional atom that has the values of the head.
sema::rule with_head_in_body(sema::rule rule, relation_id deleted) {
  sema::atom given;
  given.relation = deleted;
  given.span = rule.head.span;
  for (sema::expression& argument : rule.head.arguments) {
    if (argument.is_operation()) {
      sema::expression value;
      value.what = sema::expression::form::variable;
      value.kind = argument.kind;
      value.variable = static_cast<std::uint32_t>(rule.variables.size());
      rule.variables.push_back({"@value", argument.kind});
      // Equal words: NaNs are equal, too.
      rule.body.emplace_back(sema::constraint{comparison_op::equal, value, argument, rule.head.span});
      argument = value;
    }
    given.arguments.push_back(argument);
  }
  rule.body.insert(rule.body.begin(), std::move(given));
  return rule;
}

}  // namespace

erasing_relations add_erasing_strata(const sema::program& analysed, const std::vector<bool>& growing,
                                     sema::program& recursion) {
  erasing_relations made{std::vector<relation_id>(growing.size()), std::vector<relation_id>(growing.size())};
  sema::stratum deletion;
  deletion.recursive = true;
  for (std::uint32_t number = 0; number < growing.size(); ++number) {
    if (!growing[number]) continue;
    made.deleted[number] = add_relation_like(analysed.relations[number], "deleted", recursion);
    deletion.relations.push_back(made.deleted[number]);
  }
  for (std::uint32_t number = 0; number < growing.size(); ++number) {
    if (!growing[number]) continue;
    for (const rule_id id : analysed.relations[number].rules) {
      const sema::rule& rule = analysed[id];
      for (std::size_t place = 0; place < rule.body.size(); ++place) {
        const auto* read = std::get_if<sema::atom>(&rule.body[place]);
        if (read == nullptr || !is_in(growing, read->relation)) continue;
        sema::rule changed = rule;
        std::get<sema::atom>(changed.body[place]).relation = made.deleted[read->relation.value];
        add_rule(std::move(changed), made.deleted[number], recursion, deletion);
      }
    }
  }
  recursion.strata.push_back(std::move(deletion));
  for (std::uint32_t number = 0; number < growing.size(); ++number) {
    if (!growing[number] || analysed.relations[number].rules.empty()) continue;
    made.rederived[number] = add_relation_like(analysed.relations[number], "rederived", recursion);
    sema::stratum rederivation;
    rederivation.relations.push_back(made.rederived[number]);
    for (const rule_id id : analysed.relations[number].rules)
      add_rule(with_head_in_body(analysed[id], made.deleted[number]), made.rederived[number], recursion, rederivation);
    recursion.strata.push_back(std::move(rederivation));
  }
  return made;
}

}  // namespace gpulog::detail
