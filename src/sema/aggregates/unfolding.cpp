#include "sema/aggregates/unfolding.hpp"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <map>
#include <utility>
#include <variant>
#include <vector>

#include "sema/aggregates/best_values.hpp"

namespace gpulog::sema {

namespace {

/// Copies the body of an aggregate, with new names for its local variables.
std::vector<literal> copy_of_body(rule& changed, const aggregate& folded) {
  std::map<std::uint32_t, std::uint32_t> names;
  for (const std::uint32_t injected : folded.injected) names.emplace(injected, injected);
  const auto rename = [&](auto&& self, expression& tree) -> void {
    if (tree.is_variable()) {
      const auto next = static_cast<std::uint32_t>(changed.variables.size());
      const auto [known, is_new] = names.try_emplace(tree.variable, next);
      if (is_new) {
        variable added = changed.variables[tree.variable];
        added.name += "@copy";
        changed.variables.push_back(std::move(added));
      }
      tree.variable = known->second;
    }
    for (expression& argument : tree.arguments) self(self, argument);
  };
  std::vector<literal> copy = folded.body;
  for (literal& part : copy) {
    if (auto* one = std::get_if<atom>(&part)) {
      for (expression& argument : one->arguments) rename(rename, argument);
    } else if (auto* test = std::get_if<constraint>(&part)) {
      rename(rename, test->left);
      rename(rename, test->right);
    } else if (auto* range = std::get_if<generator>(&part)) {
      rename(rename, range->result);
      for (expression& argument : range->arguments) rename(rename, argument);
    }
  }
  return copy;
}

}  // namespace

void unfold_aggregates(rule& changed, const std::function<bool(const aggregate&)>& is_recursive) {
  std::vector<literal> body;
  for (literal& part : changed.body) {
    auto* folded = std::get_if<aggregate>(&part);
    if (folded == nullptr || !is_recursive(*folded)) {
      body.push_back(std::move(part));
      continue;
    }
    if (is_count_or_sum(folded->op)) {
      // With the copy, each new match triggers the rule, and therefore the count, again.
      for (literal& copied : copy_of_body(changed, *folded)) body.push_back(std::move(copied));
      folded->grows = true;
      body.push_back(std::move(part));
      continue;
    }
    std::move(folded->body.begin(), folded->body.end(), std::back_inserter(body));
    const comparison_op same =
        folded->result.kind == value_kind::floating ? comparison_op::equal_float : comparison_op::equal;
    body.emplace_back(constraint{same, folded->result, folded->target, folded->span});
  }
  changed.body = std::move(body);
}

}  // namespace gpulog::sema
