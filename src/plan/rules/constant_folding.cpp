#include "plan/rules/constant_folding.hpp"
#include "support/value_table.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <type_traits>

namespace gpulog::plan {
namespace {

template <class Word>
constexpr Word shift_mask = std::numeric_limits<Word>::digits - 1;

template <class Word>
std::make_signed_t<Word> as_number(Word value) {
  return static_cast<std::make_signed_t<Word>>(value);
}

template <class Word>
std::optional<Word> fold_unary(scalar_op op, Word x) {
  switch (op) {
    case scalar_op::copy:
      return x;
    case scalar_op::negate_number:
      return Word{0} - x;
    case scalar_op::bit_not:
      return ~x;
    case scalar_op::logical_not:
      return x == 0 ? 1 : 0;
    default:
      return std::nullopt;
  }
}

template <class Word>
std::optional<Word> fold_binary(scalar_op op, Word x, Word y) {
  switch (op) {
    case scalar_op::add_number:
      return x + y;
    case scalar_op::subtract_number:
      return x - y;
    case scalar_op::multiply_number:
      return static_cast<Word>(std::uint64_t{x} * y);
    case scalar_op::bit_and:
      return x & y;
    case scalar_op::bit_or:
      return x | y;
    case scalar_op::bit_xor:
      return x ^ y;
    case scalar_op::shift_left:
      return x << (y & shift_mask<Word>);
    case scalar_op::shift_right_number:
      return static_cast<Word>(as_number(x) >> (y & shift_mask<Word>));
    case scalar_op::shift_right_unsigned:
      return x >> (y & shift_mask<Word>);
    case scalar_op::logical_and:
      return (x != 0 && y != 0) ? 1 : 0;
    case scalar_op::logical_or:
      return (x != 0 || y != 0) ? 1 : 0;
    case scalar_op::logical_xor:
      return ((x != 0) != (y != 0)) ? 1 : 0;
    case scalar_op::min_number:
      return static_cast<Word>(std::min(as_number(x), as_number(y)));
    case scalar_op::max_number:
      return static_cast<Word>(std::max(as_number(x), as_number(y)));
    case scalar_op::min_unsigned:
      return std::min(x, y);
    case scalar_op::max_unsigned:
      return std::max(x, y);
    default:
      return std::nullopt;
  }
}

template <class Word>
std::optional<wide_word> fold_as(scalar_op op, const std::vector<wide_word>& arguments) {
  if (arguments.size() == 1) return fold_unary(op, static_cast<Word>(arguments[0]));
  if (arguments.size() == 2) return fold_binary(op, static_cast<Word>(arguments[0]), static_cast<Word>(arguments[1]));
  return std::nullopt;
}

template <class Word>
std::optional<bool> compare_as(comparison_op op, Word left, Word right) {
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

}  // namespace

std::optional<wide_word> fold(scalar_op op, const std::vector<wide_word>& arguments, word_size words) {
  return words == word_size::bits64 ? fold_as<std::uint64_t>(op, arguments) : fold_as<std::uint32_t>(op, arguments);
}

std::optional<bool> fold(comparison_op op, wide_word left, wide_word right, word_size words) {
  if (words == word_size::bits64) return compare_as<std::uint64_t>(op, left, right);
  return compare_as(op, static_cast<std::uint32_t>(left), static_cast<std::uint32_t>(right));
}

void fold_constants(sema::expression& tree, word_size words) {
  for (sema::expression& argument : tree.arguments) fold_constants(argument, words);
  if (!tree.is_operation()) return;
  std::vector<wide_word> values;
  for (const sema::expression& argument : tree.arguments) {
    if (!argument.is_constant()) return;
    values.push_back(argument.constant);
  }
  if (const std::optional<wide_word> value = fold(tree.op, values, words)) {
    tree.what = sema::expression::form::constant;
    tree.constant = *value;
    tree.arguments.clear();
  }
}

bool may_trap(scalar_op op) {
  using enum scalar_op;
  return is_one_of(op, {divide_number, modulo_number, divide_unsigned, modulo_unsigned, string_to_number,
                        string_to_unsigned, string_to_float});
}

bool cannot_trap_with(scalar_op op, wide_word divisor, word_size words) {
  const wide_word minus_one = words == word_size::bits64 ? std::numeric_limits<wide_word>::max() : 0xffffffff;
  switch (op) {
    case scalar_op::divide_number:
    case scalar_op::modulo_number:
      return divisor != 0 && divisor != minus_one;
    case scalar_op::divide_unsigned:
    case scalar_op::modulo_unsigned:
      return divisor != 0;
    default:
      return false;
  }
}

bool may_trap(const sema::expression& tree) {
  const auto divides_safely = [&tree] {
    if (tree.arguments.size() != 2 || !tree.arguments[1].is_constant()) return false;
    // For words of 32 bits the upper half is undefined, so the divisor must be safe in both word sizes.
    const wide_word divisor = tree.arguments[1].constant;
    return cannot_trap_with(tree.op, divisor, word_size::bits64) &&
           cannot_trap_with(tree.op, divisor & 0xffffffff, word_size::bits32);
  };
  return (tree.is_operation() && may_trap(tree.op) && !divides_safely()) ||
         std::any_of(tree.arguments.begin(), tree.arguments.end(),
                     [](const sema::expression& argument) { return may_trap(argument); });
}

bool leaves_no_trace(const sema::expression& tree) {
  const bool observes =
      tree.is_operation() && (tree.op == scalar_op::next_counter || tree.op == scalar_op::iteration_number ||
                              tree.op == scalar_op::call_functor);
  return !observes && !tree.is_record() && !may_trap(tree) &&
         std::all_of(tree.arguments.begin(), tree.arguments.end(), leaves_no_trace);
}

}  // namespace gpulog::plan
