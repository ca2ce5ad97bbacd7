#pragma once

#include "kernels/scalar.hpp"

/// The operations of scalar.hpp by number, for kernels that interpret a rule's steps.
namespace gpulog::kernels::cuda {

__device__ inline word compute_word(scalar_op op, word a, word b) {
  switch (op) {
#define GPULOG_CASE(name) \
  case scalar_op::name:   \
    return apply<scalar_op::name>(a, b)
    GPULOG_CASE(copy);
    GPULOG_CASE(add_number);
    GPULOG_CASE(subtract_number);
    GPULOG_CASE(multiply_number);
    GPULOG_CASE(divide_number);
    GPULOG_CASE(modulo_number);
    GPULOG_CASE(power_number);
    GPULOG_CASE(negate_number);
    GPULOG_CASE(divide_unsigned);
    GPULOG_CASE(modulo_unsigned);
    GPULOG_CASE(power_unsigned);
    GPULOG_CASE(add_float);
    GPULOG_CASE(subtract_float);
    GPULOG_CASE(multiply_float);
    GPULOG_CASE(divide_float);
    GPULOG_CASE(power_float);
    GPULOG_CASE(negate_float);
    GPULOG_CASE(bit_and);
    GPULOG_CASE(bit_or);
    GPULOG_CASE(bit_xor);
    GPULOG_CASE(bit_not);
    GPULOG_CASE(shift_left);
    GPULOG_CASE(shift_right_number);
    GPULOG_CASE(shift_right_unsigned);
    GPULOG_CASE(logical_and);
    GPULOG_CASE(logical_or);
    GPULOG_CASE(logical_xor);
    GPULOG_CASE(logical_not);
    GPULOG_CASE(min_number);
    GPULOG_CASE(max_number);
    GPULOG_CASE(min_unsigned);
    GPULOG_CASE(max_unsigned);
    GPULOG_CASE(min_float);
    GPULOG_CASE(max_float);
    GPULOG_CASE(number_to_float);
    GPULOG_CASE(unsigned_to_float);
    GPULOG_CASE(float_to_number);
    GPULOG_CASE(float_to_unsigned);
#undef GPULOG_CASE
    default:
      return 0;  // text operations never reach a device
  }
}

__device__ inline bool compare_words(comparison_op op, word a, word b) {
  switch (op) {
#define GPULOG_CASE(name)   \
  case comparison_op::name: \
    return holds<comparison_op::name>(a, b)
    GPULOG_CASE(equal);
    GPULOG_CASE(not_equal);
    GPULOG_CASE(less_number);
    GPULOG_CASE(less_equal_number);
    GPULOG_CASE(greater_number);
    GPULOG_CASE(greater_equal_number);
    GPULOG_CASE(less_unsigned);
    GPULOG_CASE(less_equal_unsigned);
    GPULOG_CASE(greater_unsigned);
    GPULOG_CASE(greater_equal_unsigned);
    GPULOG_CASE(equal_float);
    GPULOG_CASE(not_equal_float);
    GPULOG_CASE(less_float);
    GPULOG_CASE(less_equal_float);
    GPULOG_CASE(greater_float);
    GPULOG_CASE(greater_equal_float);
#undef GPULOG_CASE
    default:
      return false;
  }
}

}  // namespace gpulog::kernels::cuda
