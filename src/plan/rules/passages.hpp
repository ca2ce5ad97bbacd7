#pragma once

#include <cstdint>
#include <utility>
#include <vector>

namespace gpulog::plan {

/// A way from a relation of a stratum to one of the same stratum, by a rule that reads the first and derives the other.
struct passage {
  std::uint32_t from = 0;  ///< number of a relation
  std::uint32_t to = 0;
  /// Columns of `from` whose value stands unchanged in a column of `to`.
  std::vector<std::pair<std::uint32_t, std::uint32_t>> columns;
};

/// The columns that all rules of a stratum pass through.
/// @param arities of its relations, which all lead to each other
/// @return by relation its columns, as many for each, the same value at the same place; none: nothing is passed by all,
/// or some relation would have no other column
[[nodiscard]] std::vector<std::vector<std::uint32_t>> find_invariant_columns(const std::vector<std::uint32_t>& arities,
                                                                             const std::vector<passage>& passages);

}  // namespace gpulog::plan
