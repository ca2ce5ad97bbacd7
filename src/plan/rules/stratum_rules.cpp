#include "plan/rules/stratum_rules.hpp"

#include <algorithm>

namespace gpulog::plan {
namespace {

bool is_observer(scalar_op op) {
  return op == scalar_op::next_counter || op == scalar_op::iteration_number || op == scalar_op::call_functor;
}

bool calls_observer(const sema::expression& tree) {
  return (tree.is_operation() && is_observer(tree.op)) ||
         std::any_of(tree.arguments.begin(), tree.arguments.end(), calls_observer);
}

bool calls_observer_in(const normalized_rule& rule) {
  const auto any = [](const std::vector<sema::expression>& trees) {
    return std::any_of(trees.begin(), trees.end(), calls_observer);
  };
  return any(rule.head_arguments) ||
         std::any_of(rule.conditions.begin(), rule.conditions.end(),
                     [](const condition& test) { return calls_observer(test.left) || calls_observer(test.right); }) ||
         std::any_of(rule.generations.begin(), rule.generations.end(),
                     [&any](const generation& made) { return any(made.arguments); }) ||
         std::any_of(rule.aggregations.begin(), rule.aggregations.end(),
                     [](const aggregation& folded) { return calls_observer_in(folded.body); });
}

}  // namespace

bool notices_order(const stratum_rules& stratum, const std::vector<relation>& relations) {
  for (const auto* rules : {&stratum.plain, &stratum.other, &stratum.patterns}) {
    if (std::any_of(rules->begin(), rules->end(), calls_observer_in)) return true;
  }
  // The order of evaluation decides which tuple a choice keeps and which tuples a limit admits.
  return std::any_of(stratum.members.begin(), stratum.members.end(), [&relations](const relation_id member) {
    const relation& declared = relations[member.value];
    return !declared.choice_domains.empty() || declared.size_limit != 0;
  });
}

}  // namespace gpulog::plan
