#include "sema/rewriting/movement.hpp"

#include <algorithm>
#include <bit>
#include <optional>

#include "support/orderings.hpp"

namespace gpulog::sema {

namespace {

int sign(double value) {
  if (value < 0) return -1;
  return value > 0 ? 1 : 0;
}

/// Returns whether a conversion between types keeps the words, so that only the kind differs.
bool is_reinterpreted(const rule& rule, const expression& value) {
  if (value.is_variable()) return rule.variables[value.variable].kind != value.kind;
  if (!value.is_operation()) return false;
  switch (value.op) {
    case scalar_op::number_to_float:
    case scalar_op::unsigned_to_float:
      return value.kind != value_kind::floating;
    case scalar_op::float_to_number:
      return value.kind != value_kind::number;
    default:
      return std::any_of(value.arguments.begin(), value.arguments.end(),
                         [&](const expression& argument) { return argument.kind != value.kind; });
  }
}

movement by_factor(movement moved, int sign_of_factor) {
  if (moved == movement::stays || sign_of_factor > 0) return moved;
  return sign_of_factor < 0 ? opposite(moved) : movement::stays;
}

}  // namespace

movement opposite(movement one) {
  if (one == movement::falls) return movement::rises;
  return one == movement::rises ? movement::falls : one;
}

movement together(movement one, movement other) {
  if (one == movement::stays) return other;
  return other == movement::stays || one == other ? one : movement::unknown;
}

double number_of_constant(const program& program, const expression& constant) {
  if (!constant.is_constant()) return 0;
  const bool is_wide = program.words == word_size::bits64;
  const auto narrow = static_cast<std::uint32_t>(constant.constant);
  switch (constant.kind) {
    case value_kind::number:
      return is_wide ? static_cast<double>(static_cast<std::int64_t>(constant.constant))
                     : static_cast<double>(static_cast<std::int32_t>(narrow));
    case value_kind::unsigned_number:
      return static_cast<double>(constant.constant);
    case value_kind::floating:
      return is_wide ? std::bit_cast<double>(constant.constant) : static_cast<double>(std::bit_cast<float>(narrow));
    default:
      return 0;
  }
}

int sign_of_constant(const program& program, const expression& constant) {
  return sign(number_of_constant(program, constant));
}

movement movement_of(const program& program, const rule& rule, const expression& value,
                     const std::vector<movement>& of_variables) {
  std::vector<movement> arguments;
  movement all = movement::stays;
  if (value.is_variable()) {
    all = of_variables[value.variable];
  } else {
    for (const expression& argument : value.arguments) {
      arguments.push_back(movement_of(program, rule, argument, of_variables));
      all = together(all, arguments.back());
    }
    const auto moves = [](movement one) { return one != movement::stays; };
    if (std::none_of(arguments.begin(), arguments.end(), moves)) return movement::stays;
  }
  if (all == movement::stays) return all;
  if (is_reinterpreted(rule, value)) return movement::unknown;
  if (value.is_variable()) return all;
  if (!value.is_operation()) return movement::unknown;
  const bool is_unsigned = value.kind == value_kind::unsigned_number;
  switch (value.op) {
    case scalar_op::copy:
    case scalar_op::add_number:
    case scalar_op::add_float:
    case scalar_op::min_number:
    case scalar_op::max_number:
    case scalar_op::min_unsigned:
    case scalar_op::max_unsigned:
    case scalar_op::min_float:
    case scalar_op::max_float:
    case scalar_op::number_to_float:
    case scalar_op::unsigned_to_float:
    case scalar_op::float_to_number:
      return all;
    case scalar_op::subtract_number:
    case scalar_op::subtract_float:
      return together(arguments[0], opposite(arguments[1]));
    case scalar_op::negate_number:
    case scalar_op::negate_float:
      return is_unsigned ? movement::unknown : opposite(all);
    case scalar_op::multiply_number:
    case scalar_op::multiply_float:
      if (is_unsigned) return all;
      if (value.arguments[1].is_constant())
        return by_factor(arguments[0], sign_of_constant(program, value.arguments[1]));
      if (value.arguments[0].is_constant())
        return by_factor(arguments[1], sign_of_constant(program, value.arguments[0]));
      return movement::unknown;
    case scalar_op::divide_unsigned:
      return together(arguments[0], opposite(arguments[1]));
    case scalar_op::divide_number:
    case scalar_op::divide_float: {
      const int divisor = sign_of_constant(program, value.arguments[1]);
      return divisor == 0 ? movement::unknown : by_factor(arguments[0], divisor);
    }
    default:
      return movement::unknown;
  }
}

bool goes_on_to_hold(comparison_op op, movement left, movement right) {
  if (left == movement::stays && right == movement::stays) return true;
  const auto is_either = [](movement one, movement expected) { return one == movement::stays || one == expected; };
  const std::optional<ordering> order = ordering_of(op);
  if (!order) return false;
  return is_either(order->is_less ? left : right, movement::falls) &&
         is_either(order->is_less ? right : left, movement::rises);
}

}  // namespace gpulog::sema
