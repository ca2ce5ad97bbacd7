#pragma once

#include <cstdint>
#include <utility>
#include <vector>

namespace gpulog::plan {

/// A rule that reads one relation of a stratum and derives another or the same relation of the stratum.
struct passage {
  std::uint32_t from = 0;  ///< number of a relation
  std::uint32_t to = 0;
  /// Columns of `from` whose value is copied unchanged into a column of `to`.
  std::vector<std::pair<std::uint32_t, std::uint32_t>> columns;
};

/// Returns the columns that all rules of a stratum pass through.
/// @param arities of the stratum's relations, which all depend on each other
/// @return by relation its columns, equally many for each relation, with the same value at the same position; empty: no
///   column is passed through by all rules, or a relation would have no other column
[[nodiscard]] std::vector<std::vector<std::uint32_t>> find_invariant_columns(const std::vector<std::uint32_t>& arities,
                                                                             const std::vector<passage>& passages);

}  // namespace gpulog::plan
