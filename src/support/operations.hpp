#pragma once

#include <cstdint>

namespace gpulog {

/// Operations on words, typed by their operands, for plans and kernels. Integers wrap around in two's complement; shift
/// counts are masked with word size - 1; division truncates and traps on zero and on MIN / -1 (reported with the rule).
enum class scalar_op : std::uint8_t {
  copy,
  add_number,
  subtract_number,
  multiply_number,
  divide_number,
  modulo_number,
  power_number,
  negate_number,
  divide_unsigned,
  modulo_unsigned,
  power_unsigned,
  add_float,
  subtract_float,
  multiply_float,
  divide_float,
  power_float,
  negate_float,
  bit_and,
  bit_or,
  bit_xor,
  bit_not,
  shift_left,
  shift_right_number,
  shift_right_unsigned,
  logical_and,
  logical_or,
  logical_xor,
  logical_not,
  min_number,
  max_number,
  min_unsigned,
  max_unsigned,
  min_float,
  max_float,
  number_to_float,
  unsigned_to_float,
  float_to_number,
  float_to_unsigned,
  // On symbols; executed by the host, which has the symbol table.
  min_symbol,
  max_symbol,
  concatenate,
  string_length,
  substring,
  number_to_string,
  unsigned_to_string,
  float_to_string,
  string_to_number,
  string_to_unsigned,
  string_to_float,
  starts_with,  ///< 1 or 0
  ends_with,    ///< 1 or 0
  index_of,     ///< of the text, the part and the first byte to look at: the byte where the part begins, or -1
  replace_text,
  to_lower,
  to_upper,
  trim,
  part_count,  ///< of the text and the separator: the number of parts
  part_of,     ///< of the text, the separator and the number of the part
  // A functor of a user library, executed by the host: the first argument is its number, a constant.
  call_functor,
  // Without arguments: returns the number of calls so far.
  next_counter,
  // Without arguments: returns the current iteration of the stratum's loop, from 1; 0 before the loop.
  iteration_number,
};

/// How an aggregate combines the values of its matches. Without a match, count and sums return 0, the rest no value.
enum class fold_op : std::uint8_t {
  count,
  sum_number,  ///< also for unsigned numbers; wraps around
  sum_float,
  min_number,
  min_unsigned,
  min_float,
  max_number,
  max_unsigned,
  max_float,
  mean,     ///< of floats
  functor,  ///< a functor of a user library, applied to the accumulated value and the next value
};

/// Tests on two words.
enum class comparison_op : std::uint8_t {
  equal,
  not_equal,
  less_number,
  less_equal_number,
  greater_number,
  greater_equal_number,
  less_unsigned,
  less_equal_unsigned,
  greater_unsigned,
  greater_equal_unsigned,
  equal_float,
  not_equal_float,
  less_float,
  less_equal_float,
  greater_float,
  greater_equal_float,
  // On symbols (bytewise order), executed by the host. matches/contains: the left operand is the pattern or needle.
  less_symbol,
  less_equal_symbol,
  greater_symbol,
  greater_equal_symbol,
  matches,
  not_matches,
  contains,
  not_contains,
};

}  // namespace gpulog
