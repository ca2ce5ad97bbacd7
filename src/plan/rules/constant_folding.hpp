#pragma once

#include <optional>

#include "sema/program.hpp"
#include "support/operations.hpp"

namespace gpulog::plan {

/// Returns the result of an integer operation on constants; empty for operations that may trap, round, or need the
/// symbol table (left to the executor).
[[nodiscard]] std::optional<wide_word> fold(scalar_op op, const std::vector<wide_word>& arguments, word_size words);

/// Returns the result of a comparison of constants; empty for floats that are not compared bitwise and for symbol
/// order.
[[nodiscard]] std::optional<bool> fold(comparison_op op, wide_word left, wide_word right, word_size words);

/// Replaces every subexpression of constants that fold() can evaluate.
void fold_constants(sema::expression& tree, word_size words);

/// Returns whether the evaluation may end the program (division by zero, text that is not a number).
[[nodiscard]] bool may_trap(scalar_op op);
/// Returns whether a division or remainder by a constant never ends the program, for every dividend.
[[nodiscard]] bool cannot_trap_with(scalar_op op, wide_word divisor, word_size words);
[[nodiscard]] bool may_trap(const sema::expression& tree);

/// Returns whether the number of evaluations is unobservable: the expression creates no record, never ends the program,
/// and reads no counter.
[[nodiscard]] bool leaves_no_trace(const sema::expression& tree);

}  // namespace gpulog::plan
