#pragma once

#include <cstdint>
#include <vector>

#include "plan/planner.hpp"
#include "support/ids.hpp"

namespace gpulog::detail {

/// About how many different values a column has (linear counting: the share of a bitmap that stays empty); for the
/// planner, so an error of some percent doesn't matter. Of a long column a part is looked at.
class distinct_counter {
 public:
  /// @param rows of the whole column
  explicit distinct_counter(std::uint64_t rows);
  void add(const word* values, std::uint64_t rows);
  /// At least 1.
  [[nodiscard]] std::uint64_t estimate() const;

 private:
  std::uint64_t rows_;
  std::uint64_t seen_ = 0;
  std::uint64_t slots_;
  std::vector<std::uint64_t> bits_;
};

/// A part of a column.
struct value_range {
  const word* values = nullptr;
  std::uint64_t rows = 0;
};

/// About how many different values some columns have, and how many of them other columns have too. Of many values a
/// sample is looked at, the same values everywhere.
[[nodiscard]] plan::shared_values shared_between(const std::vector<value_range>& columns,
                                                 const std::vector<value_range>& others);

}  // namespace gpulog::detail
