#include <string_view>

#include "sema/print.hpp"

/// How operations are written.
namespace gpulog::sema {

std::string_view comparison_text(comparison_op op) {
  switch (op) {
    case comparison_op::equal:
    case comparison_op::equal_float:
      return "=";
    case comparison_op::not_equal:
    case comparison_op::not_equal_float:
      return "!=";
    case comparison_op::less_number:
    case comparison_op::less_unsigned:
    case comparison_op::less_float:
    case comparison_op::less_symbol:
      return "<";
    case comparison_op::less_equal_number:
    case comparison_op::less_equal_unsigned:
    case comparison_op::less_equal_float:
    case comparison_op::less_equal_symbol:
      return "<=";
    case comparison_op::greater_number:
    case comparison_op::greater_unsigned:
    case comparison_op::greater_float:
    case comparison_op::greater_symbol:
      return ">";
    case comparison_op::greater_equal_number:
    case comparison_op::greater_equal_unsigned:
    case comparison_op::greater_equal_float:
    case comparison_op::greater_equal_symbol:
      return ">=";
    case comparison_op::matches:
      return "match";
    case comparison_op::not_matches:
      return "!match";
    case comparison_op::contains:
      return "contains";
    case comparison_op::not_contains:
      return "!contains";
  }
  return "?";
}

std::string_view operation_text(scalar_op op) {
  switch (op) {
    case scalar_op::copy:
      return "";
    case scalar_op::add_number:
    case scalar_op::add_float:
      return "+";
    case scalar_op::subtract_number:
    case scalar_op::subtract_float:
    case scalar_op::negate_number:
    case scalar_op::negate_float:
      return "-";
    case scalar_op::multiply_number:
    case scalar_op::multiply_float:
      return "*";
    case scalar_op::divide_number:
    case scalar_op::divide_unsigned:
    case scalar_op::divide_float:
      return "/";
    case scalar_op::modulo_number:
    case scalar_op::modulo_unsigned:
      return "%";
    case scalar_op::power_number:
    case scalar_op::power_unsigned:
    case scalar_op::power_float:
      return "^";
    case scalar_op::bit_and:
      return "band";
    case scalar_op::bit_or:
      return "bor";
    case scalar_op::bit_xor:
      return "bxor";
    case scalar_op::bit_not:
      return "bnot ";
    case scalar_op::shift_left:
      return "bshl";
    case scalar_op::shift_right_number:
      return "bshr";
    case scalar_op::shift_right_unsigned:
      return "bshru";
    case scalar_op::logical_and:
      return "land";
    case scalar_op::logical_or:
      return "lor";
    case scalar_op::logical_xor:
      return "lxor";
    case scalar_op::logical_not:
      return "lnot ";
    case scalar_op::min_number:
    case scalar_op::min_unsigned:
    case scalar_op::min_float:
    case scalar_op::min_symbol:
      return "min";
    case scalar_op::max_number:
    case scalar_op::max_unsigned:
    case scalar_op::max_float:
    case scalar_op::max_symbol:
      return "max";
    case scalar_op::number_to_float:
    case scalar_op::unsigned_to_float:
    case scalar_op::string_to_float:
      return "to_float";
    case scalar_op::float_to_number:
    case scalar_op::string_to_number:
      return "to_number";
    case scalar_op::float_to_unsigned:
    case scalar_op::string_to_unsigned:
      return "to_unsigned";
    case scalar_op::concatenate:
      return "cat";
    case scalar_op::string_length:
      return "strlen";
    case scalar_op::substring:
      return "substr";
    case scalar_op::call_functor:
      return "call";
    case scalar_op::next_counter:
      return "autoinc";
    case scalar_op::iteration_number:
      return "recursive_iteration_cnt";
    case scalar_op::number_to_string:
    case scalar_op::unsigned_to_string:
    case scalar_op::float_to_string:
      return "to_string";
  }
  return "?";
}

std::string_view fold_text(fold_op op) {
  switch (op) {
    case fold_op::count:
      return "count";
    case fold_op::sum_number:
    case fold_op::sum_float:
      return "sum";
    case fold_op::min_number:
    case fold_op::min_unsigned:
    case fold_op::min_float:
      return "min";
    case fold_op::max_number:
    case fold_op::max_unsigned:
    case fold_op::max_float:
      return "max";
    case fold_op::mean:
      return "mean";
    case fold_op::functor:
      return "@@";
  }
  return "?";
}

}  // namespace gpulog::sema
