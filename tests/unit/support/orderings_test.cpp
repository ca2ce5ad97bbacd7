#include "support/orderings.hpp"

#include <gtest/gtest.h>

namespace gpulog {
namespace {

TEST(orderings, a_comparison_is_taken_apart_and_put_together) {
  EXPECT_EQ(ordering_of(comparison_op::less_number), (ordering{value_kind::number, true, true}));
  EXPECT_EQ(ordering_of(comparison_op::greater_equal_float), (ordering{value_kind::floating, false, false}));
  int orderings = 0;
  for (int number = 0; number <= static_cast<int>(comparison_op::not_contains); ++number) {
    const auto op = static_cast<comparison_op>(number);
    const auto order = ordering_of(op);
    if (!order) continue;
    ++orderings;
    EXPECT_EQ(comparison_of(*order), op);
  }
  EXPECT_EQ(orderings, 12);
  EXPECT_FALSE(ordering_of(comparison_op::equal));
  EXPECT_FALSE(ordering_of(comparison_op::less_symbol));
}

TEST(orderings, least_and_greatest_of_a_kind) {
  int extremes = 0;
  for (int number = 0; number <= static_cast<int>(fold_op::functor); ++number) {
    const auto op = static_cast<fold_op>(number);
    const auto value = extreme_of(op);
    if (!value) continue;
    ++extremes;
    EXPECT_EQ(fold_of(*value), op);
  }
  EXPECT_EQ(extremes, 6);
  EXPECT_EQ(fold_of({value_kind::unsigned_number, false}), fold_op::max_unsigned);
  EXPECT_FALSE(extreme_of(fold_op::count));
}

}  // namespace
}  // namespace gpulog
