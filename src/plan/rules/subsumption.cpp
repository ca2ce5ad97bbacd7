#include "plan/rules/subsumption.hpp"

#include <algorithm>
#include <numeric>
#include <set>
#include <utility>

#include "plan/cost/join_order.hpp"
#include "plan/versions/liveness.hpp"
#include "support/orderings.hpp"

namespace gpulog::plan {
namespace {

/// Marks the two atoms of the pair, so that they can be found in the version: no other atom reads delta.
constexpr row_part mark_of_pair = row_part::delta;

/// Removes the next read of the pair from the version and returns it as a scan. Its keys become comparisons at the same
/// position, except columns that must be equal in both rows.
operator_builder take_pair_row(version_builder& version, relation_id relation, const scan* dominated,
                               std::vector<std::uint32_t>& key_columns) {
  for (auto position = version.operations.begin(); position != version.operations.end(); ++position) {
    if (auto* found = std::get_if<scan>(&position->op); found != nullptr && found->rows == mark_of_pair) {
      operator_builder taken = std::move(*position);
      version.operations.erase(position);
      return taken;
    }
    auto* search = std::get_if<match>(&position->op);
    if (search == nullptr || search->rows != mark_of_pair) continue;
    scan read{relation, mark_of_pair, std::move(search->bindings)};
    std::vector<operator_builder> comparisons;
    for (std::size_t number = 0; number < search->keys.size(); ++number) {
      const std::uint32_t column = position->key_columns[number];
      const operand key = search->keys[number];
      const bool is_shared =
          dominated != nullptr && !key.is_constant &&
          std::any_of(dominated->bindings.begin(), dominated->bindings.end(), [&](const column_binding& binding) {
            return binding.column == column && binding.slot.value == key.value;
          });
      if (is_shared) {
        key_columns.push_back(column);
        continue;
      }
      const slot_id slot(static_cast<std::uint32_t>(version.slot_variables.size()));
      version.slot_variables.push_back(UINT32_MAX);
      version.version.slot_kinds.push_back(value_kind::number);
      read.bindings.push_back({column, slot});
      comparisons.push_back({filter{comparison_op::equal, operand::slot(slot), key}, {}, position->bindings});
    }
    const double bindings = position->bindings;
    position = version.operations.erase(position);
    version.operations.insert(position, comparisons.begin(), comparisons.end());
    return {std::move(read), {}, bindings};
  }
  return {scan{relation, mark_of_pair, {}}, {}, 1};  // unreachable: both atoms are read
}

void keep_bindings(operator_builder& read, const std::set<slot_id>& slots) {
  std::erase_if(std::get<scan>(read.op).bindings,
                [&](const column_binding& binding) { return !slots.contains(binding.slot); });
}

}  // namespace

subsumption_builder build_subsumption(const normalized_rule& rule, std::vector<bool> tested, const cost_model& costs,
                                      const std::vector<std::uint32_t>& arities) {
  version_parts parts;
  parts.atoms.assign(rule.atoms.size(), row_part::all);
  parts.atoms[0] = parts.atoms[1] = mark_of_pair;
  // Both tuples of a pair exist.
  if (!tested.empty()) tested[0] = tested[1] = false;
  parts.tested = std::move(tested);
  std::vector<std::uint32_t> order(rule.atoms.size());
  std::iota(order.begin(), order.end(), 0U);

  subsumption_builder result;
  result.planned.relation = rule.head;
  result.version = build_version(rule, parts, order_body(rule, parts, costs, &order));
  version_builder& version = result.version;
  version.operations.pop_back();  // removes the insert
  std::vector<std::uint32_t>& key_columns = result.planned.key_columns;
  operator_builder dominated = take_pair_row(version, rule.head, nullptr, key_columns);
  operator_builder dominating = take_pair_row(version, rule.head, &std::get<scan>(dominated.op), key_columns);
  std::sort(key_columns.begin(), key_columns.end());
  simplify(version, arities);

  std::set<slot_id> read;
  for (const operator_builder& one : version.operations) {
    for (const slot_id slot : slots_read(one.op)) read.insert(slot);
  }
  keep_bindings(dominated, read);
  keep_bindings(dominating, read);
  std::get<scan>(dominated.op).rows = std::get<scan>(dominating.op).rows = row_part::all;
  version.operations.insert(version.operations.begin(), {std::move(dominated), std::move(dominating)});
  return result;
}

std::optional<best_of_key> best_of(const subsumption_builder& made, std::uint32_t arity) {
  const std::vector<operator_builder>& operations = made.version.operations;
  if (operations.size() != 3 || made.planned.key_columns.size() + 1 != arity) return std::nullopt;
  const auto& dominated = std::get<scan>(operations[0].op).bindings;
  const auto& dominating = std::get<scan>(operations[1].op).bindings;
  const auto* test = std::get_if<filter>(&operations[2].op);
  if (test == nullptr || dominated.size() != 1 || dominating.size() != 1) return std::nullopt;
  const operand loser = operand::slot(dominated.front().slot);
  const operand winner = operand::slot(dominating.front().slot);
  const bool as_written = test->left == winner && test->right == loser;
  const bool turned = test->left == loser && test->right == winner;
  if (dominated.front().column != dominating.front().column || (!as_written && !turned)) return std::nullopt;
  best_of_key result;
  result.column = dominated.front().column;
  // The two tuples differ, so the values differ.
  const std::optional<ordering> order = ordering_of(test->op);
  if (!order) return std::nullopt;
  result.better = comparison_of({order->kind, order->is_less == as_written, true});
  return result;
}

subsumption finish(subsumption_builder made) {
  subsumption result = std::move(made.planned);
  result.version = finish(std::move(made.version));
  return result;
}

}  // namespace gpulog::plan
