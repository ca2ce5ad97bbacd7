#pragma once

#include <cstdint>
#include <vector>

#include "plan/plan.hpp"
#include "plan/planner.hpp"
#include "sema/program.hpp"

namespace gpulog::plan {

/// Guesses of cardinalities. Where a size is known it is used; elsewhere only its order of magnitude matters, and that
/// derived relations are larger than loaded ones and deltas smaller than both.
class cost_model {
 public:
  cost_model(const sema::program& source, const statistics& known);

  /// Rows of a part of a relation, at least 1.
  [[nodiscard]] double rows(relation_id relation, part rows) const;

  /// Rows of the part that agree with one binding in the given columns, may be below 1. With known numbers of distinct
  /// values: rows over the combinations of them; otherwise rows^(1 - bound / arity).
  [[nodiscard]] double fan_out(relation_id relation, part rows, const std::vector<std::uint32_t>& bound_columns) const;

  /// Adds a relation behind the last one.
  void add_relation(std::uint32_t arity, double rows);

 private:
  struct entry {
    double rows = 1;
    std::uint32_t arity = 0;
    std::vector<std::uint64_t> distinct_values;
  };
  void spread_distinct_values(const sema::program& source);
  void bound_copies(const sema::program& source);

  std::vector<entry> relations_;
};

/// Share of bindings that a condition or an existence test is taken to keep.
inline constexpr double equality_selectivity = 0.1;
inline constexpr double filter_selectivity = 0.5;

}  // namespace gpulog::plan
