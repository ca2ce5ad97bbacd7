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
bool only_grows(const sema::relation& relation) {
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

/// @param growing relations of earlier strata, and the relations of this stratum
bool grows_with(const sema::program& analysed, const sema::stratum& stratum, const std::vector<bool>& affected,
                const std::vector<bool>& growing) {
  const bool has_state = sema::has_stateful_functors(analysed);
  const auto& members = stratum.relations;
  const auto is_member = [&](relation_id id) { return std::find(members.begin(), members.end(), id) != members.end(); };
  // Only the recursion that computes best values is known to be monotone in the values.
  const auto only_gets_more = [&](relation_id id) {
    return is_in(growing, id) && (!analysed[id].is_aggregate || is_member(id));
  };
  for (const rule_id id : stratum.rules) {
    if (sema::notices_order(analysed[id], has_state) || counts_unnamed(analysed[id], affected)) return false;
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
                               const std::vector<bool>& erased) {
  std::vector<bool> growing(affected.size());
  for (const sema::stratum& stratum : analysed.strata) {
    const auto& members = stratum.relations;
    if (!is_in(affected, members.front())) continue;
    const bool may_grow = std::all_of(members.begin(), members.end(), [&](relation_id member) {
      return !is_in(erased, member) && only_grows(analysed[member]);
    });
    for (const relation_id member : members) growing[member.value] = may_grow;
    if (may_grow && grows_with(analysed, stratum, affected, growing)) continue;
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

}  // namespace gpulog::detail
