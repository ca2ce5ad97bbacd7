#include "plan/constant_folding.hpp"

#include <algorithm>
#include <limits>

namespace gpulog::plan {
namespace {

using signed_word = std::int32_t;
static_assert(sizeof(signed_word) == sizeof(word));
constexpr word shift_mask = std::numeric_limits<word>::digits - 1;

signed_word as_number(word value) { return static_cast<signed_word>(value); }
word as_word(signed_word value) { return static_cast<word>(value); }

std::optional<word> fold_unary(scalar_op op, word x) {
  switch (op) {
    case scalar_op::copy:
      return x;
    case scalar_op::negate_number:
      return word{0} - x;
    case scalar_op::bit_not:
      return ~x;
    case scalar_op::logical_not:
      return x == 0 ? 1 : 0;
    default:
      return std::nullopt;
  }
}

std::optional<word> fold_binary(scalar_op op, word x, word y) {
  switch (op) {
    case scalar_op::add_number:
      return x + y;
    case scalar_op::subtract_number:
      return x - y;
    case scalar_op::multiply_number:
      return static_cast<word>(std::uint64_t{x} * y);
    case scalar_op::bit_and:
      return x & y;
    case scalar_op::bit_or:
      return x | y;
    case scalar_op::bit_xor:
      return x ^ y;
    case scalar_op::shift_left:
      return x << (y & shift_mask);
    case scalar_op::shift_right_number:
      return as_word(as_number(x) >> (y & shift_mask));
    case scalar_op::shift_right_unsigned:
      return x >> (y & shift_mask);
    case scalar_op::logical_and:
      return (x != 0 && y != 0) ? 1 : 0;
    case scalar_op::logical_or:
      return (x != 0 || y != 0) ? 1 : 0;
    case scalar_op::logical_xor:
      return ((x != 0) != (y != 0)) ? 1 : 0;
    case scalar_op::min_number:
      return as_word(std::min(as_number(x), as_number(y)));
    case scalar_op::max_number:
      return as_word(std::max(as_number(x), as_number(y)));
    case scalar_op::min_unsigned:
      return std::min(x, y);
    case scalar_op::max_unsigned:
      return std::max(x, y);
    default:
      return std::nullopt;
  }
}

}  // namespace

std::optional<word> fold(scalar_op op, const std::vector<word>& arguments) {
  if (arguments.size() == 1) return fold_unary(op, arguments[0]);
  if (arguments.size() == 2) return fold_binary(op, arguments[0], arguments[1]);
  return std::nullopt;
}

std::optional<bool> fold(comparison_op op, word left, word right) {
  switch (op) {
    case comparison_op::equal:
      return left == right;
    case comparison_op::not_equal:
      return left != right;
    case comparison_op::less_number:
      return as_number(left) < as_number(right);
    case comparison_op::less_equal_number:
      return as_number(left) <= as_number(right);
    case comparison_op::greater_number:
      return as_number(left) > as_number(right);
    case comparison_op::greater_equal_number:
      return as_number(left) >= as_number(right);
    case comparison_op::less_unsigned:
      return left < right;
    case comparison_op::less_equal_unsigned:
      return left <= right;
    case comparison_op::greater_unsigned:
      return left > right;
    case comparison_op::greater_equal_unsigned:
      return left >= right;
    default:
      return std::nullopt;
  }
}

void fold_constants(sema::expression& tree) {
  for (sema::expression& argument : tree.arguments) fold_constants(argument);
  if (!tree.is_operation()) return;
  std::vector<word> values;
  for (const sema::expression& argument : tree.arguments) {
    if (!argument.is_constant()) return;
    values.push_back(argument.constant);
  }
  if (const std::optional<word> value = fold(tree.op, values)) {
    tree.what = sema::expression::form::constant;
    tree.constant = *value;
    tree.arguments.clear();
  }
}

bool may_trap(scalar_op op) {
  switch (op) {
    case scalar_op::divide_number:
    case scalar_op::modulo_number:
    case scalar_op::divide_unsigned:
    case scalar_op::modulo_unsigned:
    case scalar_op::string_to_number:
    case scalar_op::string_to_unsigned:
    case scalar_op::string_to_float:
      return true;
    default:
      return false;
  }
}

bool may_trap(const sema::expression& tree) {
  return (tree.is_operation() && may_trap(tree.op)) ||
         std::any_of(tree.arguments.begin(), tree.arguments.end(),
                     [](const sema::expression& argument) { return may_trap(argument); });
}

}  // namespace gpulog::plan
