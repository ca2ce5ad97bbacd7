#include "sema/aggregates/known_signs.hpp"

#include <algorithm>
#include <optional>
#include <variant>

#include "sema/rewriting/movement.hpp"
#include "support/orderings.hpp"

namespace gpulog::sema {

namespace {

/// Returns the sign of x if `x op bound` holds, or `bound op x` (turned).
known_sign sign_above(const program& program, comparison_op op, bool turned, const expression& bound) {
  const movement grows = movement::rises;
  const movement stays = movement::stays;
  const bool from_below = goes_on_to_hold(op, turned ? stays : grows, turned ? grows : stays);
  const known_sign of_bound = sign_of(program, {}, bound);
  if (!from_below || of_bound == known_sign::none) return known_sign::none;
  return is_strict(op) ? known_sign::positive : of_bound;
}

}  // namespace

known_sign sign_of(const program& program, const std::vector<literal>& body, const expression& value) {
  if (value.is_constant()) {
    const int sign = sign_of_constant(program, value);
    const bool is_zero = sign == 0 && value.constant == 0;
    return sign > 0 ? known_sign::positive : is_zero ? known_sign::not_negative : known_sign::none;
  }
  const bool is_unsigned = value.kind == value_kind::unsigned_number;
  known_sign found = is_unsigned ? known_sign::not_negative : known_sign::none;
  if (!value.is_variable()) return found;
  for (const literal& part : body) {
    const auto* test = std::get_if<constraint>(&part);
    if (test == nullptr) continue;
    for (const bool turned : {false, true}) {
      const expression& tested = turned ? test->right : test->left;
      const expression& bound = turned ? test->left : test->right;
      if (!tested.is_variable() || tested.variable != value.variable || !bound.is_constant()) continue;
      found = std::max(found, sign_above(program, test->op, turned, bound));
    }
  }
  return found;
}

bool is_strict(comparison_op op) {
  const std::optional<ordering> order = ordering_of(op);
  return order && order->is_strict;
}

}  // namespace gpulog::sema
