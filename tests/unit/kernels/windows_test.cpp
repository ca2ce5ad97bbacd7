#include "kernels/join/windows.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <vector>

namespace gpulog::kernels {
namespace {

/// A scan of numbers, the second segment, with a bound on its column.
pipeline scan_between_bounds() {
  pipeline made;
  made.segments.resize(2);
  made.segments[1].kind = expansion_kind::scan;
  made.segments[1].limits.is_signed = true;
  made.segments[1].limits.bounds.push_back({{0}, true, false});
  return made;
}

std::vector<word> column_of(std::uint64_t rows) {
  std::vector<word> values;
  for (std::uint64_t row = 0; row < rows; ++row) values.push_back(static_cast<word>(500 - row * 7919 % 1000));
  return values;
}

constexpr std::uint64_t rows = 1000;
constexpr std::uint32_t many_bindings = 1000;

TEST(run_windows, sorts_rows_once_and_counts_their_memory) {
  const pipeline program = scan_between_bounds();
  const std::vector<word> column = column_of(rows);
  backend::host_memory memory;
  {
    run_windows windows(program, memory);
    const sorted_rows* const sorted = windows.find(1, program.segments[1], column.data(), {0, rows}, many_bindings);
    ASSERT_NE(sorted, nullptr);
    EXPECT_EQ(memory.used(), rows * (sizeof(wide_word) + sizeof(std::uint32_t)));
    for (std::uint64_t i = 0; i < rows; ++i) {
      EXPECT_EQ(sorted->keys[i], windows.key_of(column[sorted->rows[i]], true));
      EXPECT_TRUE(i == 0 || sorted->keys[i - 1] <= sorted->keys[i]);
    }
    EXPECT_EQ(windows.find(1, program.segments[1], column.data(), {0, rows}, 1), sorted);
  }
  EXPECT_EQ(memory.used(), 0);
}

TEST(run_windows, all_rows_are_read_where_there_is_no_memory_to_sort_them) {
  const pipeline program = scan_between_bounds();
  const std::vector<word> column = column_of(rows);
  for (const std::uint64_t limit : {1000, 9000, 13000}) {
    backend::host_memory memory;
    memory.set_limit(limit);
    run_windows windows(program, memory);
    for (int again = 0; again < 2; ++again) {
      EXPECT_EQ(windows.find(1, program.segments[1], column.data(), {0, rows}, many_bindings), nullptr) << limit;
    }
    EXPECT_EQ(memory.used(), 0) << limit;
  }
}

/// What a bound compares, as a step computes it.
bool holds(const window::bound& bound, bool is_signed, word_size words, wide_word column, wide_word value,
           wide_word sum) {
  const bool is_wide = words == word_size::bits64;
  wide_word compared = bound.is_column_subtracted ? sum - column : column + sum;
  if (!is_wide) compared = static_cast<std::uint32_t>(compared);
  const auto order = [&](auto left, auto right) {
    if (bound.is_upper) return bound.is_strict ? left < right : left <= right;
    return bound.is_strict ? left > right : left >= right;
  };
  if (!is_signed) return order(compared, value);
  if (is_wide) return order(static_cast<std::int64_t>(compared), static_cast<std::int64_t>(value));
  return order(static_cast<std::int32_t>(compared), static_cast<std::int32_t>(value));
}

/// Values near the ends and the middle of all words, where sums wrap around.
std::vector<wide_word> values_near_ends(word_size words) {
  const unsigned bits = words == word_size::bits64 ? 64 : 32;
  const wide_word largest = bits == 64 ? ~wide_word{0} : UINT32_MAX;
  std::vector<wide_word> values;
  for (const wide_word centre : {wide_word{0}, wide_word{1} << (bits - 1), wide_word{1} << (bits - 2)}) {
    for (wide_word near = 0; near < 9; ++near) values.push_back((centre + near - 4) & largest);
  }
  return values;
}

TEST(window_ranges, hold_what_the_bounds_hold) {
  std::uint64_t state = 1;
  const auto below = [&state](std::uint64_t bound) {
    state = state * 6364136223846793005ULL + 1442695040888963407ULL;
    return (state >> 33) % bound;
  };
  for (int round = 0; round < 20000; ++round) {
    const word_size words = round % 2 == 0 ? word_size::bits32 : word_size::bits64;
    const bool is_signed = below(2) == 0;
    const std::vector<wide_word> values = values_near_ends(words);
    struct asked {
      window::bound bound;
      wide_word value;
      wide_word sum;
    };
    std::vector<asked> all(1 + below(5));
    window_ranges ranges(words);
    for (asked& one : all) {
      one.bound = {{0}, below(2) == 0, below(2) == 0, below(2) == 0, {}};
      if (below(4) != 0) one.bound.summands.push_back({{0}, false});
      one.value = values[below(values.size())];
      one.sum = one.bound.summands.empty() ? 0 : values[below(values.size())];
      ranges.keep(one.bound, is_signed, one.value, one.sum);
    }
    for (const wide_word column : values) {
      const bool wanted = std::all_of(all.begin(), all.end(), [&](const asked& one) {
        return holds(one.bound, is_signed, words, column, one.value, one.sum);
      });
      const wide_word key = sorted_rows::key_of(column, is_signed, words);
      const auto found = std::count_if(ranges.begin(), ranges.end(), [key](const key_range& range) {
        return range.first <= key && key <= range.last;
      });
      // Of many bounds, some may be left to the filters.
      if (all.size() < 4) {
        ASSERT_EQ(found, wanted ? 1 : 0) << "round " << round << ", column " << column;
      }
      ASSERT_LE(found, 1) << "round " << round;
      ASSERT_TRUE(found == 1 || !wanted) << "round " << round << ", column " << column;
    }
  }
}

}  // namespace
}  // namespace gpulog::kernels
