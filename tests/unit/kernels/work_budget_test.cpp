#include <gtest/gtest.h>

#include "kernels/join/pipeline.hpp"

namespace gpulog::kernels {
namespace {

/// A worker that ends its run leaves work undone, even if duplicates of another worker then pay for the work.
TEST(work_budget, stays_exceeded_after_a_run_has_ended) {
  work_budget budget{.row_cost = 1, .duplicate_gain = 2};
  budget.grant(5);
  budget.spend(4);
  EXPECT_FALSE(budget.is_exceeded());
  EXPECT_THROW(budget.spend(3), over_budget);
  budget.spend(budget.cost_of_results(6, 0));
  EXPECT_EQ(budget.left, 10);
  EXPECT_TRUE(budget.is_exceeded());
  budget.grant(5);
  EXPECT_FALSE(budget.is_exceeded());
  budget.take(6);
  EXPECT_TRUE(budget.is_exceeded());
}

}  // namespace
}  // namespace gpulog::kernels
