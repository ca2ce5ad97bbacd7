#include "engine/figures/run_measures.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <optional>
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

TEST(run_measures, keys_of_a_column_are_in_order_and_counted_exactly) {
  std::mt19937 random(7);
  for (const std::uint32_t rows : {1U, 2U, 31U, 32U, 33U, 1000U, 9001U}) {
    for (const word values : {1U, 5U, 1000U, 1U << 30U}) {
      SCOPED_TRACE(rows);
      SCOPED_TRACE(values);
      std::vector<word> column(rows);
      for (word& value : column) value = random() % values;
      const sampled_keys keys = key_counter().keys_of(rows, column);
      std::map<word, std::uint32_t> expected;
      for (const word value : column) ++expected[value];
      EXPECT_EQ(keys.rows, rows);
      EXPECT_EQ(keys.all_keys, static_cast<double>(expected.size()));
      EXPECT_EQ(keys.rows_per_key, measured(rows, column));
      std::vector<std::uint32_t> counts;
      for (std::size_t number = 0; number < keys.counts.size(); ++number) {
        if (number > 0) EXPECT_LT(keys.counts[number - 1].hash, keys.counts[number].hash);
        counts.push_back(keys.counts[number].count);
      }
      std::vector<std::uint32_t> expected_counts;
      for (const auto& [value, count] : expected) expected_counts.push_back(count);
      std::sort(counts.begin(), counts.end());
      std::sort(expected_counts.begin(), expected_counts.end());
      EXPECT_EQ(counts, expected_counts);
    }
  }
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

/// Values from `begin` on, each in some rows, that stand in a mixed order.
std::vector<word> values_from(word begin, word values, word each) {
  std::vector<word> column;
  for (word row = 0; row < values * each; ++row) column.push_back((begin + row % values) * 7919);
  return column;
}

/// Of a column's rows, the share whose values another one has, by the samples of both.
std::optional<double> share_of_samples(const std::vector<word>& probing, const std::vector<word>& searched,
                                       std::uint64_t rows_of_sample) {
  key_counter counter;
  const auto keys_of = [&](const std::vector<word>& column, word other) {
    std::vector<word> others(column.size());  // so rows of the two are no longer equal, and their samples independent
    for (std::uint64_t row = 0; row < column.size(); ++row) others[row] = static_cast<word>(row) * 2 + other;
    const storage::sampled_rows sample =
        storage::sample_rows({column.data(), others.data()}, column.size(), rows_of_sample);
    return counter.keys_of(column.size(), sample[0]);
  };
  const sampled_keys from = keys_of(probing, 0);
  const std::optional<plan::measured_join> join = join_of(from, keys_of(searched, 1));
  return join ? std::optional(join->found_share) : std::nullopt;
}

TEST(run_measures, whole_columns_tell_what_share_of_values_is_found) {
  constexpr std::uint64_t all = 1U << 20;
  const std::vector<word> searched = values_from(0, 1000, 3);
  EXPECT_DOUBLE_EQ(share_of_samples(values_from(0, 1000, 1), searched, all).value(), 1);
  EXPECT_NEAR(share_of_samples(values_from(500, 1000, 2), searched, all).value(), 0.5, 0.001);
  EXPECT_NEAR(share_of_samples(values_from(1000, 1000, 1), searched, all).value(), 0, 0.001);
  // As often as rows have them: 10 values that are found stand in as many rows as 90 that are not.
  std::vector<word> skewed = values_from(0, 10, 9);
  const std::vector<word> not_found = values_from(5000, 90, 1);
  skewed.insert(skewed.end(), not_found.begin(), not_found.end());
  EXPECT_NEAR(share_of_samples(skewed, searched, all).value(), 0.5, 0.01);
}

TEST(run_measures, samples_tell_what_share_of_values_is_found) {
  const std::vector<word> searched = values_from(0, 20000, 10);
  EXPECT_GT(share_of_samples(values_from(0, 20000, 10), searched, 1U << 13).value(), 0.75);
  EXPECT_NEAR(share_of_samples(values_from(10000, 20000, 10), searched, 1U << 13).value(), 0.5, 0.12);
  EXPECT_LT(share_of_samples(values_from(20000, 20000, 10), searched, 1U << 13).value(), 0.01);
}

TEST(run_measures, samples_with_few_values_in_common_tell_no_share) {
  EXPECT_EQ(share_of_samples(values_from(0, 5, 1), values_from(0, 5, 1), 1U << 13), std::nullopt);
  // 1000 of 1000000 rows each: one value of both is expected.
  EXPECT_EQ(share_of_samples(values_from(0, 1000000, 1), values_from(0, 1000000, 1), 1000), std::nullopt);
}

/// Rows of two columns, the first of which has values of 1 to so many rows, the second one that differs in each.
std::vector<std::vector<word>> skewed_rows(word most, word begin, bool is_reversed) {
  std::vector<std::vector<word>> rows(2);
  for (word value = 0; value < most; ++value) {
    for (word row = 0; row < (is_reversed ? most - value : value + 1); ++row) {
      rows[0].push_back(value * 7919);
      rows[1].push_back(begin + static_cast<word>(rows[1].size()));
    }
  }
  return rows;
}

/// Rows that a search by the first column of one relation finds in the other, by samples.
double joined_rows(const std::vector<std::vector<word>>& probing, const std::vector<std::vector<word>>& searched,
                   std::uint64_t wanted) {
  key_counter counter;
  const auto sample_of = [wanted](const std::vector<std::vector<word>>& rows) {
    return storage::sample_rows({rows[0].data(), rows[1].data()}, rows[0].size(), wanted);
  };
  const storage::sampled_rows samples[] = {sample_of(probing), sample_of(searched)};
  const std::vector<sampled_keys::counted> hashes = counter.row_hashes(samples[0]);
  const std::uint64_t equal = key_counter::equal_rows(hashes, counter.row_hashes(samples[1]));
  const sampled_keys from = counter.keys_of(probing[0].size(), samples[0][0]);
  return join_of(from, counter.keys_of(searched[0].size(), samples[1][0]), equal).value().rows;
}

TEST(run_measures, samples_tell_how_many_rows_values_find_that_are_skewed_in_both) {
  // 500 values, 250 rows each by the average.
  const auto rows = skewed_rows(500, 0, false);
  const auto same = skewed_rows(500, 1U << 24U, false);
  const auto reversed = skewed_rows(500, 1U << 24U, true);
  constexpr std::uint64_t all = 1U << 20U;
  const double exact = joined_rows(rows, same, all);
  EXPECT_NEAR(exact, 500.0 * 501 * 1001 / 6 / (500 * 501 / 2.0), 0.01);  // sum of squares over the rows
  EXPECT_NEAR(joined_rows(rows, same, 1U << 13U), exact, exact / 10);
  const double exact_reversed = joined_rows(rows, reversed, all);
  EXPECT_LT(exact_reversed, 0.6 * exact);
  EXPECT_NEAR(joined_rows(rows, reversed, 1U << 13U), exact_reversed, exact_reversed / 10);
}

TEST(run_measures, equal_rows_of_two_relations_do_not_count_more_for_being_in_both_samples) {
  // A relation and its copy, with one row for each value, or ten.
  for (const word each : {1U, 10U}) {
    SCOPED_TRACE(each);
    std::vector<std::vector<word>> rows(2);
    for (word row = 0; row < 400000; ++row) {
      rows[0].push_back(row / each * 7919);
      rows[1].push_back(row);
    }
    EXPECT_NEAR(joined_rows(rows, rows, 1U << 13U), each, 0.35 * each);
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

/// Pairs of rows with one key that a sample has, over those of a sample whose rows have nothing to do with each other.
double pairs_of_keys(const std::vector<std::vector<word>>& columns, std::uint64_t each, std::uint64_t wanted) {
  std::vector<const word*> pointers;
  for (const std::vector<word>& column : columns) pointers.push_back(column.data());
  const std::uint64_t rows = columns.front().size();
  const storage::sampled_rows sample = storage::sample_rows(pointers, rows, wanted);
  std::map<word, std::uint64_t> counts;
  for (const word key : sample.front()) ++counts[key];
  double pairs = 0;
  for (const auto& [key, count] : counts) pairs += static_cast<double>(count * (count - 1)) / 2;
  const double share = static_cast<double>(wanted) / static_cast<double>(rows);
  return pairs / (static_cast<double>(rows * (each - 1)) / 2 * share * share);
}

TEST(run_measures, rows_of_a_sample_have_nothing_to_do_with_each_other) {
  constexpr std::uint64_t rows = 1U << 18U;
  for (const word each : {8U, 64U}) {
    for (const word step : {1U, 16U, 1000U, 1U << 20U}) {
      for (const word key_step : {1U, 64U}) {
        SCOPED_TRACE(each);
        SCOPED_TRACE(step);
        SCOPED_TRACE(key_step);
        // Values beside a key follow each other, as numbers of symbols do: over all rows, or anew for each key.
        std::vector<std::vector<word>> columns(3);
        for (word row = 0; row < rows; ++row) {
          columns[0].push_back(row / each * key_step);
          columns[1].push_back(row * step);
          columns[2].push_back(row % each * step);
        }
        const double chance = 4 / std::sqrt(rows / 2.0 * (each - 1) / 32 / 32) + 0.04;  // and of the sample's size
        EXPECT_NEAR(pairs_of_keys({columns[0], columns[1]}, each, rows / 32), 1, chance);
        EXPECT_NEAR(pairs_of_keys({columns[0], columns[2]}, each, rows / 32), 1, chance);
        EXPECT_NEAR(pairs_of_keys(columns, each, rows / 32), 1, chance);
      }
    }
  }
}

}  // namespace
}  // namespace gpulog::detail
