#pragma once

#include <cstdint>
#include <vector>

#include "sema/program.hpp"

/// The direction in which values change while a recursive aggregate is evaluated: a minimum falls, a maximum rises.
namespace gpulog::sema {

enum class movement : std::uint8_t {
  stays,
  falls,
  rises,
  unknown,  ///< not known to be monotone
};

[[nodiscard]] movement opposite(movement one);
/// Returns the direction of a value that follows both directions.
[[nodiscard]] movement together(movement one, movement other);

/// Returns the direction of the expression's value for given directions of the variables, ignoring overflow. Monotone
/// are sums, differences, min, max, products and quotients with a constant or of unsigned numbers, and order-preserving
/// conversions.
/// @param of_variables by variable of the rule
[[nodiscard]] movement movement_of(const program& program, const rule& rule, const expression& value,
                                   const std::vector<movement>& of_variables);

/// Returns whether a true comparison stays true while its sides change in these directions.
[[nodiscard]] bool goes_on_to_hold(comparison_op op, movement left, movement right);

/// Returns a numeric constant, rounded; 0 for other expressions.
[[nodiscard]] double number_of_constant(const program& program, const expression& constant);
/// Returns the sign of a numeric constant: -1, 0 or 1; 0 for other expressions.
[[nodiscard]] int sign_of_constant(const program& program, const expression& constant);

}  // namespace gpulog::sema
