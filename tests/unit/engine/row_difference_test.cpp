#include "engine/rows/row_difference.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace gpulog::detail {
namespace {

using rows = std::vector<std::pair<word, word>>;

/// Two columns.
struct table {
  explicit table(const rows& from) : count(from.size()) {
    for (const auto& [left, right] : from) {
      first.push_back(left);
      second.push_back(right);
    }
  }
  [[nodiscard]] row_view view() const { return {{first.data(), second.data()}, count}; }
  std::vector<word> first, second;
  std::size_t count;
};

rows rows_of(const staged_rows& from) {
  rows result;
  for (std::uint64_t i = 0; i < from.rows; ++i) result.emplace_back(from.columns[0][i], from.columns[1][i]);
  return result;
}

rows only_in(const rows& all, const rows& others) {
  const std::set<std::pair<word, word>> in_others(others.begin(), others.end());
  rows result;
  for (const auto& row : all) {
    if (!in_others.contains(row)) result.push_back(row);
  }
  return result;
}

void expect_difference(const rows& before, const rows& now, bool are_distinct) {
  const table left(before);
  const table right(now);
  const row_changes changes = difference_of(left.view(), right.view(), are_distinct, backend::unlimited_memory());
  ASSERT_EQ(rows_of(changes.added), only_in(now, before));
  ASSERT_EQ(rows_of(changes.removed), only_in(before, now));
}

TEST(row_difference, rows_that_occur_twice_are_in_both) {
  expect_difference({{1, 2}, {3, 4}, {1, 2}}, {{1, 2}, {3, 4}}, false);
  expect_difference({{1, 2}, {3, 4}}, {{1, 2}, {3, 4}, {1, 2}}, false);
  expect_difference({{3, 4}, {1, 2}, {3, 4}}, {{1, 2}}, false);
}

TEST(row_difference, equals_that_of_sets) {
  std::mt19937_64 random(1);
  for (int turn = 0; turn < 500; ++turn) {
    const auto make = [&](rows made) {
      for (std::uint64_t changes = random() % 4; changes > 0; --changes) {
        const auto place = made.begin() + static_cast<std::ptrdiff_t>(random() % (made.size() + 1));
        if (random() % 2 == 0 || place == made.end()) {
          made.insert(place, {static_cast<word>(random() % 9), static_cast<word>(random() % 9)});
        } else {
          made.erase(place);
        }
      }
      return made;
    };
    rows all;
    for (std::uint64_t size = random() % 40; size > 0; --size)
      all.emplace_back(static_cast<word>(random() % 9), static_cast<word>(random() % 9));
    const rows others = random() % 8 == 0 ? make({}) : make(all);
    SCOPED_TRACE(turn);
    expect_difference(all, others, false);
    if (testing::Test::HasFatalFailure()) return;
  }
}

TEST(row_difference, distinct_rows_in_another_order) {
  std::mt19937_64 random(2);
  for (const std::size_t size : {10U, 3000U, 50000U}) {
    rows all;
    for (std::size_t i = 0; i < size; ++i) all.emplace_back(static_cast<word>(i), static_cast<word>(i % 7));
    for (const std::size_t lost : {std::size_t{0}, std::size_t{3}, size / 2}) {
      SCOPED_TRACE(std::to_string(size) + " rows without " + std::to_string(lost));
      rows before = all;
      rows now = all;
      std::shuffle(before.begin(), before.end(), random);
      std::shuffle(now.begin(), now.end(), random);
      before.resize(size - lost / 2);
      now.resize(size - lost);
      expect_difference(before, now, true);
      expect_difference(now, before, true);
      expect_difference(all, before, true);
      std::sort(now.begin(), now.end());
      expect_difference(all, now, true);
      now.insert(now.end(), before.begin(), before.begin() + static_cast<std::ptrdiff_t>(before.size() / 2));
      expect_difference(before, now, false);
      if (testing::Test::HasFatalFailure()) return;
    }
  }
}

TEST(row_difference, rows_without_columns) {
  const auto expect_counts = [](std::uint64_t before, std::uint64_t now, std::uint64_t added, std::uint64_t removed) {
    const row_changes changes = difference_of({{}, before}, {{}, now}, false, backend::unlimited_memory());
    EXPECT_EQ(changes.added.rows, added);
    EXPECT_EQ(changes.removed.rows, removed);
  };
  expect_counts(0, 2, 1, 0);
  expect_counts(1, 2, 0, 0);
  expect_counts(1, 0, 0, 1);
}

}  // namespace
}  // namespace gpulog::detail
