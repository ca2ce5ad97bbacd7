#pragma once

#include <cstdint>
#include <vector>

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

}  // namespace gpulog::detail
