#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "plan/cost/relation_measures.hpp"
#include "plan/plan.hpp"
#include "plan/planner.hpp"
#include "plan/rules/normalized_rule.hpp"
#include "sema/program.hpp"

namespace gpulog::plan {

/// Estimates cardinalities. Known sizes are used as they are. For unknown sizes only the order of magnitude matters,
/// and the assumption that derived relations are larger than loaded relations and deltas smaller than both.
class cost_model {
 public:
  cost_model(const sema::program& source, const statistics& known);

  /// Returns the rows of a part of a relation, at least 1.
  [[nodiscard]] double rows(relation_id relation, row_part rows) const;
  /// Returns whether the rows were counted rather than estimated.
  [[nodiscard]] bool knows_rows(relation_id relation) const { return relations_[relation.value].is_known; }

  /// Returns the expected rows of the part for one binding of the given columns; may be below 1. With known distinct
  /// counts: rows divided by the number of combinations, multiplied by `calibration::skew` if no column is a key.
  /// Otherwise the minimum of rows^(1 - bound / arity), the bound from the columns with known counts, and the number of
  /// combinations of the unbound columns.
  [[nodiscard]] double fan_out(relation_id relation, row_part rows,
                               const std::vector<std::uint32_t>& bound_columns) const;

  /// Returns the share of a column's rows whose value also occurs in another column: from samples of both columns, or
  /// from the distinct counts, assuming that the smaller set of values is contained in the larger set. 1: unknown.
  [[nodiscard]] double found_share(column_place probing, column_place searched) const;

  /// Returns the rows of the part that a search finds with a value of the probing column, from samples of both columns.
  /// The result exceeds fan_out() if values that are frequent in one column are also frequent in the other. Empty: the
  /// samples do not suffice.
  [[nodiscard]] std::optional<double> joined_fan_out(column_place probing, column_place searched, row_part rows) const;

  /// Returns the approximate number of distinct values of a column; 0: unknown.
  [[nodiscard]] std::uint64_t distinct_values(column_place column) const;

  /// From this call on, the cost of an order includes the indexes that it needs, except the existing indexes.
  /// @param there existing indexes
  /// @param without_set relations whose tuples are searched in an index of all columns
  void charge_indexes(const std::vector<index>& there, std::set<relation_id> without_set);
  /// Ends charge_indexes(): from this call on, indexes cost nothing.
  void expect_all_indexes() { indexed_.reset(); }
  /// Adds the index that a search needs to the existing indexes, for all following orders.
  void expect_index(relation_id relation, const std::vector<std::uint32_t>& columns);
  /// Returns the cost, in bindings, of the index for a search.
  /// @param columns ascending
  [[nodiscard]] double index_cost(relation_id relation, const std::vector<std::uint32_t>& columns) const;

  /// Sets the rows of an added relation.
  void set_rows(relation_id relation, double rows);
  /// Appends a relation, with the estimated rows of `head`.
  void add_relation(std::uint32_t arity, relation_id head);
  /// Estimates the distinct values of the head of a rule, an added relation.
  void learn_distinct_values(const normalized_rule& rule);

  /// Replaces the estimates of the relation with measured values: the relation is complete, or is measured again after
  /// it grows and before it is estimated. The measures must outlive the model.
  void measure(relation_id relation, const relation_measures& measures);
  /// Estimates the relations of a stratum again, after better knowledge about the relations that the stratum reads.
  void estimate_again(const sema::program& source, const std::vector<relation_id>& members);

 private:
  /// Measured results since the relation was last measured; a search for an order repeats the same requests.
  struct told_fan_out {
    std::vector<std::uint32_t> columns;
    std::optional<double> rows_per_key;
  };
  struct told_join {
    column_place probing;
    std::uint32_t searched_column = 0;
    std::optional<measured_join> join;
  };
  struct entry {
    double rows = 1;
    std::uint32_t arity = 0;
    std::vector<std::uint64_t> distinct_values;
    bool is_known = false;                          ///< `rows` is not an estimate
    std::optional<relation_id> head = {};           ///< head of the rules that the relation was added for
    const relation_measures* measures = nullptr;    ///< nullptr: not measured
    double loaded_rows = 1;                         ///< `rows` before estimation
    std::vector<std::uint64_t> loaded_values = {};  ///< `distinct_values` before estimation
    mutable std::vector<told_fan_out> told_fan_outs = {};
    mutable std::vector<told_join> told_joins = {};
    mutable std::uint64_t told_at = 0;  ///< value of measured_times_ when told_joins was filled
  };
  void spread_statistics(const sema::program& source);
  void spread_statistics(const sema::program& source, const sema::stratum& stratum);
  void spread_distinct_values(const sema::program& source, const sema::stratum& stratum);
  /// Returns the distinct values of a column of a rule's head; 0: unknown.
  [[nodiscard]] std::uint64_t distinct_values_of(const sema::rule& rule, std::uint32_t head_column) const;
  [[nodiscard]] std::optional<double> rows_of_rule(const sema::rule& rule) const;
  [[nodiscard]] std::optional<double> rows_of_rules(const sema::program& source, const sema::stratum& stratum) const;
  struct average_rows {
    double average = 0;
    bool may_be_skewed = false;
  };
  /// Returns the fan-out for a value that is looked up no more often than average.
  [[nodiscard]] average_rows average_fan_out(relation_id relation, row_part rows,
                                             const std::vector<std::uint32_t>& bound_columns) const;
  /// Returns the measured fan-out of a complete relation with accessible rows.
  [[nodiscard]] std::optional<double> measured_fan_out(relation_id relation,
                                                       const std::vector<std::uint32_t>& bound_columns) const;
  [[nodiscard]] std::optional<measured_join> join_of(column_place probing, column_place searched) const;
  /// Returns the smallest known bound, for searches with a bound column of unknown distinct count.
  [[nodiscard]] double bounded_fan_out(const entry& known, double total,
                                       const std::vector<std::uint32_t>& bound_columns) const;
  static double combinations_of(const entry& known, const std::vector<std::uint32_t>& columns);
  static bool knows_values(const entry& known, const std::vector<std::uint32_t>& columns);
  /// Returns whether one of the columns, all with known distinct counts, is a key.
  static bool has_key_among(const entry& known, const std::vector<std::uint32_t>& columns);
  void bound_combinations(relation_id relation);

  /// By relation: columns of its indexes, ascending.
  using indexed_columns = std::map<relation_id, std::vector<std::vector<std::uint32_t>>>;

  std::vector<entry> relations_;
  std::uint64_t measured_times_ = 0;
  std::optional<indexed_columns> indexed_;  ///< empty: indexes cost nothing
  std::set<relation_id> without_set_;
  double largest_loaded_ = 1;
  std::vector<std::optional<std::size_t>> stratum_of_;  ///< by relation of the source: the stratum that derives it
};

}  // namespace gpulog::plan
