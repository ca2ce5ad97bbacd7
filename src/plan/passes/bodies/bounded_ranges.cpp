#include "plan/passes/bodies/bounded_ranges.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "plan/rules/constant_folding.hpp"
#include "support/orderings.hpp"

namespace gpulog::plan {
namespace {

bool is_in_an_atom(const normalized_rule& rule, std::uint32_t variable) {
  return std::any_of(rule.atoms.begin(), rule.atoms.end(), [variable](const body_atom& atom) {
    return std::any_of(atom.arguments.begin(), atom.arguments.end(), [variable](const term& argument) {
      return argument.is_variable() && argument.value == variable;
    });
  });
}

/// Returns a variable bound by an atom: `variable`, or a variable that conditions make equal to it. Aggregates do not
/// unify equal variables.
std::optional<std::uint32_t> find_bound(const normalized_rule& rule, std::uint32_t variable) {
  std::vector<std::uint32_t> equal{variable};
  for (std::size_t position = 0; position < equal.size(); ++position) {
    if (is_in_an_atom(rule, equal[position])) return equal[position];
    for (const condition& test : rule.conditions) {
      if (test.op != comparison_op::equal || !test.left.is_variable() || !test.right.is_variable()) continue;
      for (const auto& [side, other] : {std::pair(&test.left, &test.right), std::pair(&test.right, &test.left)}) {
        const bool is_known = std::find(equal.begin(), equal.end(), other->variable) != equal.end();
        if (side->variable == equal[position] && !is_known) equal.push_back(other->variable);
      }
    }
  }
  return std::nullopt;
}

bool is_word(const generation& made) {
  return made.kind == value_kind::number || made.kind == value_kind::unsigned_number;
}

bool is_less(const generation& made, wide_word left, wide_word right, word_size words) {
  return fold(comparison_of({made.kind, true, true}), left, right, words).value();
}

/// Returns 1 or -1 if the values are consecutive and ascending or descending.
std::optional<int> direction_of(const generation& made, word_size words) {
  if (!is_word(made)) return std::nullopt;
  if (made.arguments.size() < 3) {
    const bool is_constant = made.arguments[0].is_constant() && made.arguments[1].is_constant();
    if (!is_constant) return std::nullopt;
    return is_less(made, made.arguments[1].constant, made.arguments[0].constant, words) ? -1 : 1;
  }
  if (!made.arguments[2].is_constant()) return std::nullopt;
  const wide_word step = made.arguments[2].constant;
  if (step == 1) return 1;
  const wide_word minus_one = words == word_size::bits64 ? ~wide_word{0} : wide_word{0xffffffff};
  if (made.kind == value_kind::number && step == minus_one) return -1;
  return std::nullopt;
}

sema::expression applied(scalar_op op, const generation& made) {
  sema::expression result;
  result.what = sema::expression::form::operation;
  result.kind = made.kind;
  result.op = op;
  result.arguments = {made.arguments[0], made.arguments[1]};
  return result;
}

/// Compares with the range from the first argument to the second, up or down, excluding the second.
void compare_either_way(const generation& made, const sema::expression& value, normalized_rule& rule) {
  const bool is_number = made.kind == value_kind::number;
  rule.conditions.push_back({comparison_of({made.kind, false, false}), value,
                             applied(is_number ? scalar_op::min_number : scalar_op::min_unsigned, made)});
  rule.conditions.push_back({comparison_of({made.kind, true, false}), value,
                             applied(is_number ? scalar_op::max_number : scalar_op::max_unsigned, made)});
  rule.conditions.push_back({comparison_op::not_equal, value, made.arguments[1]});
}

/// Replaces the generation with comparisons.
/// @return whether the generation can be removed
bool compare(const generation& made, normalized_rule& rule) {
  if (!made.result.is_variable()) return false;
  const std::optional<std::uint32_t> bound = find_bound(rule, made.result.variable);
  if (!bound) return false;
  const sema::expression value = variable_expression(rule, *bound);
  const std::optional<int> direction = direction_of(made, rule.words);
  if (!direction && is_word(made) && made.arguments.size() < 3) {
    compare_either_way(made, value, rule);
    return true;
  }
  if (!direction) return false;
  const bool rises = *direction > 0;
  rule.conditions.push_back({comparison_of({made.kind, !rises, false}), value, made.arguments[0]});
  rule.conditions.push_back({comparison_of({made.kind, rises, true}), value, made.arguments[1]});
  return true;
}

}  // namespace

void compare_bounds(normalized_rule& rule) {
  std::erase_if(rule.generations, [&rule](const generation& made) { return compare(made, rule); });
  for (aggregation& folded : rule.aggregations) compare_bounds(folded.body);
}

}  // namespace gpulog::plan
