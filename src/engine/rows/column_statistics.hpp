#pragma once

#include <cstdint>
#include <vector>

#include "io/task_runner.hpp"
#include "plan/planner.hpp"
#include "storage/sets/value_histogram.hpp"
#include "support/ids.hpp"

namespace gpulog::detail {

/// A part of a column.
struct value_range {
  const word* values = nullptr;
  std::uint64_t rows = 0;
};

/// Estimates the number of distinct values of each column, at least 1. The planner tolerates an error of a few percent,
/// so only a part of long columns is counted.
/// @param columns each in parts, all with the same number of rows
/// @param rows total number of rows, of which the columns may contain a part
[[nodiscard]] std::vector<std::uint64_t> count_distinct(const std::vector<std::vector<value_range>>& columns,
                                                        std::uint64_t rows, io::task_runner& run);

/// Values of some columns and their rows. Large columns are sampled by value: one in `share` hash values, the same
/// values in all columns with this share.
class sampled_values {
 public:
  explicit sampled_values(const std::vector<value_range>& columns);

 private:
  friend plan::shared_values shared_between(const sampled_values& columns, const sampled_values& others);
  [[nodiscard]] static bool is_in(word value, std::uint64_t share);

  std::uint64_t share_;  ///< a power of two
  storage::value_histogram counts_;
};

/// Estimates the number of distinct values of some columns, and how many of these values also occur in other columns.
[[nodiscard]] plan::shared_values shared_between(const sampled_values& columns, const sampled_values& others);

}  // namespace gpulog::detail
