#pragma once

#include <cstdint>
#include <vector>

#include "io/task_runner.hpp"
#include "plan/planner.hpp"
#include "support/ids.hpp"

namespace gpulog::detail {

/// A part of a column.
struct value_range {
  const word* values = nullptr;
  std::uint64_t rows = 0;
};

/// About how many different values some columns have, at least 1 each; for the planner, so an error of some percent
/// doesn't matter. Of long columns a part is looked at. @param columns each in parts, of as many rows
/// @param rows that there are, of which the columns may have a part
[[nodiscard]] std::vector<std::uint64_t> count_distinct(const std::vector<std::vector<value_range>>& columns,
                                                        std::uint64_t rows, io::task_runner& run);

/// About how many different values some columns have, and how many of them other columns have too. Of many values a
/// sample is looked at, the same values everywhere.
[[nodiscard]] plan::shared_values shared_between(const std::vector<value_range>& columns,
                                                 const std::vector<value_range>& others);

}  // namespace gpulog::detail
