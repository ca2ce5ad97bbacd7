#include "syntax/ast.hpp"

namespace gpulog::syntax {

// Defined here since their members' types are complete only after all nodes are.
bool operator==(const record_constructor&, const record_constructor&) = default;
bool operator==(const branch_constructor&, const branch_constructor&) = default;
bool operator==(const functor_call&, const functor_call&) = default;
bool operator==(const user_functor_call&, const user_functor_call&) = default;
bool operator==(const type_cast&, const type_cast&) = default;
bool operator==(const aggregate&, const aggregate&) = default;
bool operator==(const argument&, const argument&) = default;
bool operator==(const atom&, const atom&) = default;
bool operator==(const constraint&, const constraint&) = default;
bool operator==(const negation&, const negation&) = default;
bool operator==(const group&, const group&) = default;
bool operator==(const literal&, const literal&) = default;
bool operator==(const component&, const component&) = default;
bool operator==(const item&, const item&) = default;

std::string_view spelling(functor op) {
  switch (op) {
    case functor::negate:
      return "-";
    case functor::bit_not:
      return "bnot";
    case functor::logical_not:
      return "lnot";
    case functor::add:
      return "+";
    case functor::subtract:
      return "-";
    case functor::multiply:
      return "*";
    case functor::divide:
      return "/";
    case functor::modulo:
      return "%";
    case functor::power:
      return "^";
    case functor::bit_and:
      return "band";
    case functor::bit_or:
      return "bor";
    case functor::bit_xor:
      return "bxor";
    case functor::shift_left:
      return "bshl";
    case functor::shift_right:
      return "bshr";
    case functor::shift_right_unsigned:
      return "bshru";
    case functor::logical_and:
      return "land";
    case functor::logical_or:
      return "lor";
    case functor::logical_xor:
      return "lxor";
    case functor::cat:
      return "cat";
    case functor::ord:
      return "ord";
    case functor::range:
      return "range";
    case functor::strlen:
      return "strlen";
    case functor::substr:
      return "substr";
    case functor::to_float:
      return "to_float";
    case functor::to_number:
      return "to_number";
    case functor::to_string:
      return "to_string";
    case functor::to_unsigned:
      return "to_unsigned";
    case functor::min:
      return "min";
    case functor::max:
      return "max";
  }
  return "";
}

bool is_prefix(functor op) { return op <= functor::logical_not; }

bool is_infix(functor op) { return op >= functor::add && op <= functor::logical_xor; }

std::string_view spelling(aggregate_op op) {
  switch (op) {
    case aggregate_op::count:
      return "count";
    case aggregate_op::sum:
      return "sum";
    case aggregate_op::min:
      return "min";
    case aggregate_op::max:
      return "max";
    case aggregate_op::mean:
      return "mean";
    case aggregate_op::user:
      return "@@";
  }
  return "";
}

std::string_view spelling(constraint_op op) {
  switch (op) {
    case constraint_op::equal:
      return "=";
    case constraint_op::not_equal:
      return "!=";
    case constraint_op::less:
      return "<";
    case constraint_op::less_equal:
      return "<=";
    case constraint_op::greater:
      return ">";
    case constraint_op::greater_equal:
      return ">=";
    case constraint_op::match:
    case constraint_op::not_match:
      return "match";
    case constraint_op::contains:
    case constraint_op::not_contains:
      return "contains";
  }
  return "";
}

constraint_op negated(constraint_op op) {
  switch (op) {
    case constraint_op::equal:
      return constraint_op::not_equal;
    case constraint_op::not_equal:
      return constraint_op::equal;
    case constraint_op::less:
      return constraint_op::greater_equal;
    case constraint_op::less_equal:
      return constraint_op::greater;
    case constraint_op::greater:
      return constraint_op::less_equal;
    case constraint_op::greater_equal:
      return constraint_op::less;
    case constraint_op::match:
      return constraint_op::not_match;
    case constraint_op::not_match:
      return constraint_op::match;
    case constraint_op::contains:
      return constraint_op::not_contains;
    case constraint_op::not_contains:
      return constraint_op::contains;
  }
  return op;
}

std::string_view spelling(relation_qualifier qualifier) {
  switch (qualifier) {
    case relation_qualifier::overridable:
      return "overridable";
    case relation_qualifier::is_inline:
      return "inline";
    case relation_qualifier::no_inline:
      return "no_inline";
    case relation_qualifier::magic:
      return "magic";
    case relation_qualifier::no_magic:
      return "no_magic";
    case relation_qualifier::brie:
      return "brie";
    case relation_qualifier::btree:
      return "btree";
    case relation_qualifier::btree_delete:
      return "btree_delete";
    case relation_qualifier::eqrel:
      return "eqrel";
    case relation_qualifier::input:
      return "input";
    case relation_qualifier::output:
      return "output";
    case relation_qualifier::printsize:
      return "printsize";
  }
  return "";
}

std::string_view spelling(directive_kind kind) {
  switch (kind) {
    case directive_kind::input:
      return ".input";
    case directive_kind::output:
      return ".output";
    case directive_kind::printsize:
      return ".printsize";
    case directive_kind::limitsize:
      return ".limitsize";
  }
  return "";
}

}  // namespace gpulog::syntax
