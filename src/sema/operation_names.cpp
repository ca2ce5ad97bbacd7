#include <string_view>

#include "sema/print.hpp"
#include "support/value_table.hpp"

/// Source texts of operations.
namespace gpulog::sema {

std::string_view comparison_text(comparison_op op) {
  using enum comparison_op;
  static constexpr entry<comparison_op, std::string_view> table[] = {
      {equal, "="},
      {equal_float, "="},
      {not_equal, "!="},
      {not_equal_float, "!="},
      {less_number, "<"},
      {less_unsigned, "<"},
      {less_float, "<"},
      {less_symbol, "<"},
      {less_equal_number, "<="},
      {less_equal_unsigned, "<="},
      {less_equal_float, "<="},
      {less_equal_symbol, "<="},
      {greater_number, ">"},
      {greater_unsigned, ">"},
      {greater_float, ">"},
      {greater_symbol, ">"},
      {greater_equal_number, ">="},
      {greater_equal_unsigned, ">="},
      {greater_equal_float, ">="},
      {greater_equal_symbol, ">="},
      {matches, "match"},
      {not_matches, "!match"},
      {contains, "contains"},
      {not_contains, "!contains"},
  };
  static_assert(has_all(table, not_contains));
  return find_in(table, op).value();
}

std::string_view operation_text(scalar_op op) {
  using enum scalar_op;
  static constexpr entry<scalar_op, std::string_view> table[] = {
      {copy, ""},
      {add_number, "+"},
      {add_float, "+"},
      {subtract_number, "-"},
      {subtract_float, "-"},
      {negate_number, "-"},
      {negate_float, "-"},
      {multiply_number, "*"},
      {multiply_float, "*"},
      {divide_number, "/"},
      {divide_unsigned, "/"},
      {divide_float, "/"},
      {modulo_number, "%"},
      {modulo_unsigned, "%"},
      {power_number, "^"},
      {power_unsigned, "^"},
      {power_float, "^"},
      {bit_and, "band"},
      {bit_or, "bor"},
      {bit_xor, "bxor"},
      {bit_not, "bnot "},
      {shift_left, "bshl"},
      {shift_right_number, "bshr"},
      {shift_right_unsigned, "bshru"},
      {logical_and, "land"},
      {logical_or, "lor"},
      {logical_xor, "lxor"},
      {logical_not, "lnot "},
      {min_number, "min"},
      {min_unsigned, "min"},
      {min_float, "min"},
      {min_symbol, "min"},
      {max_number, "max"},
      {max_unsigned, "max"},
      {max_float, "max"},
      {max_symbol, "max"},
      {number_to_float, "to_float"},
      {unsigned_to_float, "to_float"},
      {string_to_float, "to_float"},
      {float_to_number, "to_number"},
      {string_to_number, "to_number"},
      {float_to_unsigned, "to_unsigned"},
      {string_to_unsigned, "to_unsigned"},
      {concatenate, "cat"},
      {string_length, "strlen"},
      {substring, "substr"},
      {starts_with, "starts_with"},
      {ends_with, "ends_with"},
      {index_of, "index_of"},
      {replace_text, "replace"},
      {to_lower, "to_lower"},
      {to_upper, "to_upper"},
      {trim, "trim"},
      {part_count, "part_count"},
      {part_of, "split"},
      {call_functor, "call"},
      {next_counter, "autoinc"},
      {iteration_number, "recursive_iteration_cnt"},
      {number_to_string, "to_string"},
      {unsigned_to_string, "to_string"},
      {float_to_string, "to_string"},
  };
  static_assert(has_all(table, iteration_number));
  return find_in(table, op).value();
}

std::string_view fold_text(fold_op op) {
  using enum fold_op;
  static constexpr entry<fold_op, std::string_view> table[] = {
      {count, "count"},      {sum_number, "sum"}, {sum_float, "sum"},  {min_number, "min"},
      {min_unsigned, "min"}, {min_float, "min"},  {max_number, "max"}, {max_unsigned, "max"},
      {max_float, "max"},    {mean, "mean"},      {functor, "@@"}};
  static_assert(has_all(table, functor));
  return find_in(table, op).value();
}

}  // namespace gpulog::sema
