#include "engine/rows/column_statistics.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <random>
#include <set>
#include <vector>

namespace gpulog::detail {
namespace {

/// The same with any number of threads.
std::uint64_t estimate_of(const std::vector<word>& values) {
  const std::uint64_t half = values.size() / 2;
  const std::vector<std::vector<value_range>> columns = {
      {{values.data(), values.size()}}, {{values.data(), half}, {values.data() + half, values.size() - half}}};
  std::set<std::uint64_t> found;
  for (const unsigned threads : {1U, 2U, 4U, 7U}) {
    io::task_runner run(threads);
    const std::vector<std::uint64_t> counts = count_distinct(columns, values.size(), run);
    found.insert(counts.begin(), counts.end());
  }
  EXPECT_EQ(found.size(), 1U);
  return *found.begin();
}

TEST(count_distinct, is_right_within_some_percent) {
  std::mt19937 random(1);
  for (const std::uint64_t rows : {1000, 100000, 3000000}) {
    for (const std::uint64_t distinct : {std::uint64_t{1}, std::uint64_t{10}, rows / 100, rows / 2}) {
      std::vector<word> values;
      for (std::uint64_t row = 0; row < rows; ++row) values.push_back(static_cast<word>(row % distinct * 2654435761U));
      const auto estimate = static_cast<double>(estimate_of(values));
      EXPECT_NEAR(estimate, static_cast<double>(distinct), 1 + 0.05 * static_cast<double>(distinct)) << rows;
    }
  }
}

TEST(count_distinct, goes_on_where_it_has_not_looked) {
  constexpr std::uint64_t rows = 10000000;
  std::vector<word> keys(rows);
  for (std::uint64_t row = 0; row < rows; ++row) keys[row] = static_cast<word>(row);
  EXPECT_NEAR(static_cast<double>(estimate_of(keys)), 1e7, 1e6);
  for (word& key : keys) key %= 1000;
  EXPECT_NEAR(static_cast<double>(estimate_of(keys)), 1000, 50);
}

TEST(count_distinct, of_nothing_is_one) { EXPECT_EQ(estimate_of({}), 1U); }

TEST(count_distinct, of_no_column_is_nothing) {
  io::task_runner run(2);
  EXPECT_TRUE(count_distinct({}, 7, run).empty());
}

sampled_values values_of(const std::vector<std::vector<word>>& columns) {
  std::vector<value_range> ranges;
  for (const std::vector<word>& column : columns) ranges.push_back({column.data(), column.size()});
  return sampled_values(ranges);
}

TEST(shared_between, counts_values_and_rows_of_all_parts) {
  const sampled_values some = values_of({{1, 2, 3, 3, 3}, {3, 4, 4}});
  const sampled_values others = values_of({{9, 3, 4, 3}});
  const plan::shared_values found = shared_between(some, others);
  EXPECT_EQ(found.values, 4);
  EXPECT_EQ(found.shared, 2);
  EXPECT_EQ(found.share_of_rows, 6.0 / 8);
  EXPECT_EQ(shared_between(values_of({}), others).values, 0);
  EXPECT_EQ(shared_between(some, values_of({})).shared, 0);
}

TEST(shared_between, looks_at_the_same_sample_everywhere) {
  std::vector<word> values(2000000);
  for (std::size_t row = 0; row < values.size(); ++row) values[row] = static_cast<word>(row);
  const std::vector<word> tenth(values.begin(), values.begin() + 200000);
  const plan::shared_values found = shared_between(values_of({values}), values_of({tenth}));
  EXPECT_NEAR(found.values, 2e6, 4e4);
  EXPECT_NEAR(found.shared / found.values, 0.1, 0.01);
  EXPECT_NEAR(found.share_of_rows, 0.1, 0.01);
  const plan::shared_values all = shared_between(values_of({tenth}), values_of({values}));
  EXPECT_NEAR(all.values, 2e5, 1e4);
  EXPECT_EQ(all.shared, all.values);
  EXPECT_EQ(all.share_of_rows, 1);
}

}  // namespace
}  // namespace gpulog::detail
