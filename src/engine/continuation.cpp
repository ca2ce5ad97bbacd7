#include "engine/continuation.hpp"

#include <algorithm>
#include <iterator>
#include <utility>
#include <variant>

#include "engine/affected.hpp"

namespace gpulog::detail {
namespace {

/// Whether its value is another one when it is asked for again.
bool depends_on_order(const sema::expression& asked) {
  return (asked.is_operation() && (asked.op == scalar_op::next_counter || asked.op == scalar_op::iteration_number)) ||
         std::any_of(asked.arguments.begin(), asked.arguments.end(), depends_on_order);
}

bool depends_on_order(const std::vector<sema::literal>& body);

bool depends_on_order(const sema::literal& asked) {
  if (const auto* test = std::get_if<sema::constraint>(&asked))
    return depends_on_order(test->left) || depends_on_order(test->right);
  if (const auto* made = std::get_if<sema::generator>(&asked)) {
    return std::any_of(made->arguments.begin(), made->arguments.end(),
                       [](const sema::expression& argument) { return depends_on_order(argument); });
  }
  const auto* folded = std::get_if<sema::aggregate>(&asked);
  return folded != nullptr && (depends_on_order(folded->target) || depends_on_order(folded->body));
}

bool depends_on_order(const std::vector<sema::literal>& body) {
  return std::any_of(body.begin(), body.end(), [](const sema::literal& part) { return depends_on_order(part); });
}

bool depends_on_order(const sema::rule& asked) {
  const auto& arguments = asked.head.arguments;
  return depends_on_order(asked.body) ||
         std::any_of(arguments.begin(), arguments.end(),
                     [](const sema::expression& argument) { return depends_on_order(argument); });
}

/// Whether a tuple never leaves it, and which ones it has does not depend on their order.
bool only_grows(const sema::relation& relation) {
  return relation.subsumptions.empty() && relation.choice_domains.empty() && relation.lattices.empty() &&
         !relation.size_limit && relation.structure != sema::representation::eqrel;
}

bool reads_some(const sema::rule& rule, const std::vector<bool>& relations) {
  bool reads = false;
  for_each_atom(rule.body, [&](const sema::atom& one, bool) { reads = reads || is_in(relations, one.relation); });
  return reads;
}

/// debug_delta has dependencies that no atom shows.
bool is_shown(const sema::program& analysed, const sema::stratum& stratum, const sema::dependency& edge) {
  return std::any_of(stratum.rules.begin(), stratum.rules.end(), [&](rule_id id) {
    bool reads = false;
    for_each_atom(analysed[id].body, [&](const sema::atom& one, bool) { reads = reads || one.relation == edge.from; });
    return reads && analysed[id].head.relation == edge.to;
  });
}

/// @param growing relations of strata before, and those of this one
bool grows_with(const sema::program& analysed, const sema::stratum& stratum, const std::vector<bool>& affected,
                const std::vector<bool>& growing) {
  for (const rule_id id : stratum.rules) {
    if (depends_on_order(analysed[id])) return false;
    bool grows = true;
    for_each_atom(analysed[id].body, [&](const sema::atom& one, bool is_monotone) {
      grows = grows && (!is_in(affected, one.relation) || (is_monotone && is_in(growing, one.relation)));
    });
    if (!grows) return false;
  }
  return std::all_of(analysed.dependencies.begin(), analysed.dependencies.end(), [&](const sema::dependency& edge) {
    const auto& members = stratum.relations;
    const bool is_here = std::find(members.begin(), members.end(), edge.to) != members.end();
    return !is_here || !is_in(affected, edge.from) || is_shown(analysed, stratum, edge);
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
  // Their numbers of versions are those of other strata.
  for (sema::rule& rule : part.rules) rule.plans.clear();
  part.strata.push_back(std::move(recursion));
  return part;
}

}  // namespace gpulog::detail
