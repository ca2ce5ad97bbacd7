#include "sema/rewriting/expressions.hpp"

#include <utility>

namespace gpulog::sema {

expression variable_of(value_kind kind, std::uint32_t variable, const source_span& span) {
  expression result;
  result.what = expression::form::variable;
  result.kind = kind;
  result.variable = variable;
  result.span = span;
  return result;
}

expression constant_of(value_kind kind, wide_word value, const source_span& span) {
  expression result;
  result.what = expression::form::constant;
  result.kind = kind;
  result.constant = value;
  result.span = span;
  return result;
}

expression operation_of(scalar_op op, value_kind kind, std::vector<expression> arguments, const source_span& span) {
  expression result;
  result.what = expression::form::operation;
  result.kind = kind;
  result.op = op;
  result.arguments = std::move(arguments);
  result.span = span;
  return result;
}

expression record_of(value_kind kind, std::vector<expression> fields, const source_span& span) {
  expression result;
  result.what = expression::form::record;
  result.kind = kind;
  result.arguments = std::move(fields);
  result.span = span;
  return result;
}

}  // namespace gpulog::sema
