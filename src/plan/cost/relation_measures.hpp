#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "plan/plan.hpp"
#include "support/ids.hpp"

namespace gpulog::plan {

/// Result of searching a column with every row's value of a second column.
struct measured_join {
  double found_share = 1;  ///< share of the searches that find rows
  double rows = 0;         ///< average rows per search
};

/// Measures of relations while a program runs.
class relation_measures {
 public:
  relation_measures() = default;
  relation_measures(const relation_measures&) = delete;
  relation_measures& operator=(const relation_measures&) = delete;
  virtual ~relation_measures() = default;

  /// Returns the current number of rows.
  [[nodiscard]] virtual std::uint64_t rows(relation_id relation) const = 0;
  /// Announces calls of rows_per_key() for the relations before further rows arrive. An implementation may fetch the
  /// data of all announced relations together.
  virtual void expect(const std::vector<relation_id>&) const {}
  /// Returns the approximate number of rows that a search of the given columns finds with a value from the relation.
  /// @param columns at least one column
  /// @return empty if the rows are not accessible
  [[nodiscard]] virtual std::optional<double> rows_per_key(relation_id relation,
                                                           const std::vector<std::uint32_t>& columns) const = 0;
  /// Returns an estimate of the join of two columns; empty if the samples do not suffice.
  [[nodiscard]] virtual std::optional<measured_join> join_of([[maybe_unused]] column_place probing,
                                                             [[maybe_unused]] column_place searched) const {
    return std::nullopt;
  }
  /// Returns whether a search by the given columns needs no index.
  [[nodiscard]] virtual bool is_searched(relation_id, const std::vector<std::uint32_t>&) const { return false; }
};

}  // namespace gpulog::plan
