#include "storage/indexes/join_sample.hpp"

#include <gtest/gtest.h>

namespace gpulog::storage {
namespace {

TEST(join_sample, every_row_of_few_and_one_of_each_step_of_many) {
  for (const std::uint64_t rows : {0U, 1U, 99U, 100U, 199U}) {
    const join_sample all(rows, 100);
    EXPECT_EQ(all.size, rows);
    EXPECT_EQ(all.weight(), 1);
    for (std::uint64_t i = 0; i < all.size; ++i) EXPECT_EQ(all.row(i), i);
  }
  for (const std::uint64_t rows : {200U, 201U, 12345U}) {
    const join_sample some(rows, 100);
    EXPECT_GE(some.size, 100U);
    EXPECT_LT(some.size, 200U);
    for (std::uint64_t i = 0; i < some.size; ++i) EXPECT_EQ(some.row(i) / some.step, i);
    EXPECT_LT(some.row(some.size - 1), rows);
  }
}

}  // namespace
}  // namespace gpulog::storage
