#include "engine/rows/row_difference.hpp"

#include <gtest/gtest.h>

#include <random>
#include <set>
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

rows difference(const rows& all, const rows& others) {
  const table left(all);
  const table right(others);
  const staged_rows found = rows_only_in(left.view(), right.view(), backend::unlimited_memory());
  rows result;
  for (std::uint64_t i = 0; i < found.rows; ++i) result.emplace_back(found.columns[0][i], found.columns[1][i]);
  return result;
}

TEST(row_difference, rows_that_occur_twice_are_in_both) {
  EXPECT_EQ(difference({{1, 2}, {3, 4}, {1, 2}}, {{1, 2}, {3, 4}}), rows());
  EXPECT_EQ(difference({{1, 2}, {3, 4}}, {{1, 2}, {3, 4}, {1, 2}}), rows());
  EXPECT_EQ(difference({{3, 4}, {1, 2}, {3, 4}}, {{1, 2}}), (rows{{3, 4}, {3, 4}}));
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
    const std::set<std::pair<word, word>> in_others(others.begin(), others.end());
    rows expected;
    for (const auto& row : all) {
      if (!in_others.contains(row)) expected.push_back(row);
    }
    ASSERT_EQ(difference(all, others), expected) << turn;
  }
}

TEST(row_difference, rows_without_columns) {
  const auto count = [](std::uint64_t all, std::uint64_t others) {
    return rows_only_in({{}, all}, {{}, others}, backend::unlimited_memory()).rows;
  };
  EXPECT_EQ(count(2, 0), 1U);
  EXPECT_EQ(count(2, 1), 0U);
  EXPECT_EQ(count(0, 1), 0U);
}

}  // namespace
}  // namespace gpulog::detail
