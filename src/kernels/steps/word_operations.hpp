#pragma once

/// The operations of scalar.hpp on words, as lists: X(name) for each scalar_op that apply<> supports and each
/// comparison_op that holds<> supports, without operations on texts. Every backend generates its switches from these
/// lists.

// clang-format off
#define GPULOG_FOR_EACH_WORD_OPERATION(X) \
  X(copy) X(add_number) X(subtract_number) X(multiply_number) X(divide_number) X(modulo_number) X(power_number) \
  X(negate_number) X(divide_unsigned) X(modulo_unsigned) X(power_unsigned) X(add_float) X(subtract_float) \
  X(multiply_float) X(divide_float) X(power_float) X(negate_float) X(bit_and) X(bit_or) X(bit_xor) X(bit_not) \
  X(shift_left) X(shift_right_number) X(shift_right_unsigned) X(logical_and) X(logical_or) X(logical_xor) \
  X(logical_not) X(min_number) X(max_number) X(min_unsigned) X(max_unsigned) X(min_float) X(max_float) \
  X(number_to_float) X(unsigned_to_float) X(float_to_number) X(float_to_unsigned)
#define GPULOG_FOR_EACH_WORD_COMPARISON(X) \
  X(equal) X(not_equal) X(less_number) X(less_equal_number) X(greater_number) X(greater_equal_number) \
  X(less_unsigned) X(less_equal_unsigned) X(greater_unsigned) X(greater_equal_unsigned) X(equal_float) \
  X(not_equal_float) X(less_float) X(less_equal_float) X(greater_float) X(greater_equal_float)
// clang-format on
