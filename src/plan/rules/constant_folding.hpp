#pragma once

#include <optional>

#include "sema/program.hpp"
#include "support/operations.hpp"

namespace gpulog::plan {

/// Result of an integer operation on constants; nothing for what may trap, rounds, or needs the symbol table (left to
/// the executor).
[[nodiscard]] std::optional<wide_word> fold(scalar_op op, const std::vector<wide_word>& arguments, word_size words);

/// Truth of a comparison of constants; nothing for floats that are not compared bitwise and for symbol order.
[[nodiscard]] std::optional<bool> fold(comparison_op op, wide_word left, wide_word right, word_size words);

/// Replaces every subexpression of constants that fold() can evaluate.
void fold_constants(sema::expression& tree, word_size words);

/// Whether evaluating it may end the program (division by zero, text that is not a number).
[[nodiscard]] bool may_trap(scalar_op op);
/// Of a division or remainder by a constant: whether it ends no program whatever is divided.
[[nodiscard]] bool cannot_trap_with(scalar_op op, wide_word divisor, word_size words);
[[nodiscard]] bool may_trap(const sema::expression& tree);

/// Whether nobody can tell how often, or whether, it is evaluated: it makes no record, ends no program, and reads no
/// counter.
[[nodiscard]] bool leaves_no_trace(const sema::expression& tree);

}  // namespace gpulog::plan
