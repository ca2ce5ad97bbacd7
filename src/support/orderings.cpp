#include "support/orderings.hpp"

#include "support/error.hpp"

namespace gpulog {

namespace {

struct operations_of_kind {
  value_kind kind;
  comparison_op less;
  comparison_op less_equal;
  comparison_op greater;
  comparison_op greater_equal;
  fold_op least;
  fold_op greatest;
};

constexpr operations_of_kind ordered_kinds[] = {
    {value_kind::number, comparison_op::less_number, comparison_op::less_equal_number, comparison_op::greater_number,
     comparison_op::greater_equal_number, fold_op::min_number, fold_op::max_number},
    {value_kind::unsigned_number, comparison_op::less_unsigned, comparison_op::less_equal_unsigned,
     comparison_op::greater_unsigned, comparison_op::greater_equal_unsigned, fold_op::min_unsigned,
     fold_op::max_unsigned},
    {value_kind::floating, comparison_op::less_float, comparison_op::less_equal_float, comparison_op::greater_float,
     comparison_op::greater_equal_float, fold_op::min_float, fold_op::max_float},
};

const operations_of_kind& operations_on(value_kind kind) {
  for (const operations_of_kind& row : ordered_kinds) {
    if (row.kind == kind) return row;
  }
  throw internal_error("values of a kind without an order are compared by one");
}

}  // namespace

std::optional<ordering> ordering_of(comparison_op op) {
  for (const operations_of_kind& row : ordered_kinds) {
    if (op == row.less) return ordering{row.kind, true, true};
    if (op == row.less_equal) return ordering{row.kind, true, false};
    if (op == row.greater) return ordering{row.kind, false, true};
    if (op == row.greater_equal) return ordering{row.kind, false, false};
  }
  return std::nullopt;
}

comparison_op comparison_of(const ordering& order) {
  const operations_of_kind& row = operations_on(order.kind);
  if (order.is_less) return order.is_strict ? row.less : row.less_equal;
  return order.is_strict ? row.greater : row.greater_equal;
}

std::optional<extreme> extreme_of(fold_op op) {
  for (const operations_of_kind& row : ordered_kinds) {
    if (op == row.least) return extreme{row.kind, true};
    if (op == row.greatest) return extreme{row.kind, false};
  }
  return std::nullopt;
}

fold_op fold_of(const extreme& value) {
  const operations_of_kind& row = operations_on(value.kind);
  return value.is_least ? row.least : row.greatest;
}

}  // namespace gpulog
