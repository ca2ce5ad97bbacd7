#include "plan/decomposition.hpp"

#include <algorithm>
#include <map>

namespace gpulog::plan {
namespace {

/// The slot that an operator binds to a column; invalid: none.
slot_id slot_of(const std::vector<column_binding>& bindings, std::uint32_t column) {
  const auto found = std::find_if(bindings.begin(), bindings.end(),
                                  [column](const column_binding& one) { return one.column == column; });
  return found == bindings.end() ? slot_id() : found->slot;
}

/// `for delta R(p,z), match e[z] -> y, insert R(p,y)`, with p in the pivot column.
std::optional<decomposed_step> step_of(const rule_version& version, std::uint32_t pivot) {
  if (version.operations.size() != 3) return std::nullopt;
  const auto* from = std::get_if<scan>(&version.operations[0]);
  const auto* to = std::get_if<match>(&version.operations[1]);
  const auto* head = std::get_if<insert>(&version.operations[2]);
  if (from == nullptr || to == nullptr || head == nullptr) return std::nullopt;
  if (from->relation != head->relation || from->rows != part::delta || from->bindings.size() != 2) return std::nullopt;
  const std::uint32_t moving = 1 - pivot;
  const slot_id passed = slot_of(from->bindings, pivot);
  const slot_id before = slot_of(from->bindings, moving);
  if (!passed.valid() || !before.valid() || passed == before) return std::nullopt;
  if (to->keys.size() != 1 || to->keys[0] != operand::slot(before) || to->bindings.size() != 1) return std::nullopt;
  if (head->values[pivot] != operand::slot(passed)) return std::nullopt;
  if (head->values[moving] != operand::slot(to->bindings[0].slot)) return std::nullopt;
  return decomposed_step{to->relation, to->index, to->bindings[0].column};
}

std::optional<decomposition> decompose_by(const stratum& considered, std::uint32_t pivot) {
  decomposition found;
  found.pivot = pivot;
  found.moving = 1 - pivot;
  const relation_id own = considered.relations.front();
  std::map<rule_id, bool> is_covered;
  for (const rule_version& version : considered.loop.front().versions) {
    const auto step = step_of(version, pivot);
    is_covered.try_emplace(version.rule, false);
    if (!step) {
      // Of a doubling rule one version is enough; the other one passes the other column.
      const auto other = step_of(version, 1 - pivot);
      if (!other || other->relation != own) return std::nullopt;
      continue;
    }
    is_covered[version.rule] = true;
    found.steps.push_back(*step);
  }
  const bool all_covered =
      std::all_of(is_covered.begin(), is_covered.end(), [](const auto& one) { return one.second; });
  if (!all_covered || found.steps.empty()) return std::nullopt;
  return found;
}

}  // namespace

bool may_fall_apart(const relation& own) {
  return own.kinds.size() == 2 && own.size_limit == 0 && own.choice_domains.empty() && !own.is_equivalence;
}

std::optional<decomposition> find_decomposition(const program& plan, const stratum& considered) {
  if (!considered.recursive || considered.relations.size() != 1 || considered.loop.size() != 1) return std::nullopt;
  if (!considered.subsumptions.empty()) return std::nullopt;
  if (!may_fall_apart(plan.relations[considered.relations.front().value])) return std::nullopt;
  // Pairs of an equivalence relation stand in no index.
  for (const rule_version& version : considered.loop.front().versions) {
    for (const operation& one : version.operations) {
      const auto* const search = std::get_if<match>(&one);
      if (search != nullptr && plan.relations[search->relation.value].is_equivalence) return std::nullopt;
    }
  }
  auto found = decompose_by(considered, 0);
  return found ? found : decompose_by(considered, 1);
}

}  // namespace gpulog::plan
