#pragma once

#include "syntax/ast.hpp"

/// Precedence of operators, for parser and printer.
namespace gpulog::syntax {

/// Precedence of `-x`, `bnot x`, `lnot x`: as `*`, above every infix operator except `^`.
inline constexpr int prefix_precedence = 9;
inline constexpr int power_precedence = 10;
/// Precedence of terms without an operator.
inline constexpr int operand_precedence = 11;

/// Returns the precedence, from 1; a higher precedence binds tighter. operand_precedence for functions called by name.
[[nodiscard]] constexpr int precedence(functor op) {
  switch (op) {
    case functor::logical_or:
      return 1;
    case functor::logical_xor:
      return 2;
    case functor::logical_and:
      return 3;
    case functor::bit_or:
      return 4;
    case functor::bit_xor:
      return 5;
    case functor::bit_and:
      return 6;
    case functor::shift_left:
    case functor::shift_right:
    case functor::shift_right_unsigned:
      return 7;
    case functor::add:
    case functor::subtract:
      return 8;
    case functor::multiply:
    case functor::divide:
    case functor::modulo:
    case functor::negate:
    case functor::bit_not:
    case functor::logical_not:
      return prefix_precedence;
    case functor::power:
      return power_precedence;
    default:
      return operand_precedence;
  }
}

[[nodiscard]] constexpr bool is_right_associative(functor op) { return op == functor::power; }

}  // namespace gpulog::syntax
