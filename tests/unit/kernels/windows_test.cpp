#include "kernels/join/windows.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace gpulog::kernels {
namespace {

/// A scan of numbers, the second segment, with a bound on its column.
pipeline scan_between_bounds() {
  pipeline made;
  made.segments.resize(2);
  made.segments[1].kind = expansion_kind::scan;
  made.segments[1].limits.is_signed = true;
  made.segments[1].limits.bounds.push_back({0, true, false});
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

}  // namespace
}  // namespace gpulog::kernels
