#pragma once

#include <cstdint>
#include <vector>

#include "sema/program.hpp"

/// Which way values move while a recursive aggregate is evaluated: those of a least one fall, of a greatest one rise.
namespace gpulog::sema {

enum class movement : std::uint8_t {
  stays,
  falls,
  rises,
  unknown,  ///< not known to be monotone
};

[[nodiscard]] movement opposite(movement one);
/// Of what depends on both and moves as they do.
[[nodiscard]] movement together(movement one, movement other);

/// How the expression's value moves when the variables do, leaving overflow aside. Monotone are sums, differences, min,
/// max, products and quotients with a constant or of unsigned numbers, and conversions that keep the order.
/// @param of_variables one a variable of the rule
[[nodiscard]] movement movement_of(const program& program, const rule& rule, const expression& value,
                                   const std::vector<movement>& of_variables);

/// Whether a comparison that holds goes on to hold when its sides move so.
[[nodiscard]] bool goes_on_to_hold(comparison_op op, movement left, movement right);

/// A constant that is a number of the program, rounded; 0 where it is none.
[[nodiscard]] double number_of_constant(const program& program, const expression& constant);
/// -1, 0 or 1: the sign of a constant that is a number of the program; 0 also where it is none.
[[nodiscard]] int sign_of_constant(const program& program, const expression& constant);

}  // namespace gpulog::sema
