#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "plan/plan.hpp"
#include "support/ids.hpp"

namespace gpulog::plan {

/// What searches by the values of one column find in another one, each value as often as its rows have it.
struct measured_join {
  double found_share = 1;  ///< of the searches: that find rows at all
  double rows = 0;         ///< that a search finds
};

/// What can be counted of relations while a program runs.
class relation_measures {
 public:
  relation_measures() = default;
  relation_measures(const relation_measures&) = delete;
  relation_measures& operator=(const relation_measures&) = delete;
  virtual ~relation_measures() = default;

  /// That the relation has now.
  [[nodiscard]] virtual std::uint64_t rows(relation_id relation) const = 0;
  /// Says that rows_per_key() of these will be asked before they grow: what is needed for it may be fetched together.
  virtual void expect(const std::vector<relation_id>&) const {}
  /// About how many rows of it a search for values of these columns finds, where the values are some of its own. At
  /// least one column. Nothing: its rows are not at hand.
  [[nodiscard]] virtual std::optional<double> rows_per_key(relation_id relation,
                                                           const std::vector<std::uint32_t>& columns) const = 0;
  /// Of two columns, about. Nothing: samples do not tell it.
  [[nodiscard]] virtual std::optional<measured_join> join_of([[maybe_unused]] column_place probing,
                                                             [[maybe_unused]] column_place searched) const {
    return std::nullopt;
  }
  /// Whether such a search needs no index.
  [[nodiscard]] virtual bool is_searched(relation_id, const std::vector<std::uint32_t>&) const { return false; }
};

}  // namespace gpulog::plan
