#include "engine/figures/run_measures.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <random>
#include <vector>

#include "storage/relation/row_sample.hpp"

namespace gpulog::detail {
namespace {

double measured(std::uint64_t rows, const std::vector<word>& column) {
  return key_counter().rows_per_key(rows, {&column});
}

TEST(run_measures, counts_whole_columns_exactly) {
  EXPECT_DOUBLE_EQ(measured(4, {1, 2, 3, 4}), 1);
  EXPECT_DOUBLE_EQ(measured(6, {1, 1, 2, 2, 3, 3}), 2);
  EXPECT_DOUBLE_EQ(measured(1, {7}), 1);
  // 4 rows of one key, 2 of others: 2 by key, 3 by row.
  EXPECT_DOUBLE_EQ(measured(6, {1, 1, 1, 1, 2, 3}), std::sqrt(2.0 * 3.0));
}

/// Rows of a relation with this many for each key, through the sample.
double measured_from_sample(std::uint64_t rows, std::uint64_t rows_per_key) {
  std::vector<word> keys(rows);
  std::vector<word> others(rows);
  for (std::uint64_t row = 0; row < rows; ++row) {
    keys[row] = static_cast<word>(row / rows_per_key * 7919);
    others[row] = static_cast<word>(row);
  }
  const storage::sampled_rows sample = storage::sample_rows({keys.data(), others.data()}, rows, 1U << 13);
  EXPECT_GT(sample[0].size(), 1U << 12);
  EXPECT_LT(sample[0].size(), 1U << 14);
  return measured(rows, sample[0]);
}

TEST(run_measures, a_sample_tells_keys_from_what_repeats) {
  constexpr std::uint64_t rows = 1000000;
  EXPECT_LT(measured_from_sample(rows, 1), 1.2);
  for (const std::uint64_t rows_per_key : {10U, 100U, 10000U}) {
    SCOPED_TRACE(rows_per_key);
    const double found = measured_from_sample(rows, rows_per_key);
    EXPECT_GT(found, 0.7 * static_cast<double>(rows_per_key));
    EXPECT_LT(found, 1.4 * static_cast<double>(rows_per_key));
  }
}

TEST(run_measures, a_sample_has_the_same_rows_in_whatever_order_they_stand) {
  constexpr std::uint64_t rows = 100000;
  std::vector<word> column(rows);
  for (std::uint64_t row = 0; row < rows; ++row) column[row] = static_cast<word>(row * 31);
  storage::sampled_rows first = storage::sample_rows({column.data()}, rows, 1000);
  std::mt19937 random(1);
  std::shuffle(column.begin(), column.end(), random);
  storage::sampled_rows second = storage::sample_rows({column.data()}, rows, 1000);
  std::sort(first[0].begin(), first[0].end());
  std::sort(second[0].begin(), second[0].end());
  EXPECT_EQ(first, second);
}

}  // namespace
}  // namespace gpulog::detail
