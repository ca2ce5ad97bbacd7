#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "plan/cost/relation_measures.hpp"
#include "plan/plan.hpp"
#include "plan/planner.hpp"
#include "plan/rules/normalized_rule.hpp"
#include "sema/program.hpp"

namespace gpulog::plan {

/// Guesses of cardinalities. Where a size is known it is used; elsewhere only its order of magnitude matters, and that
/// derived relations are larger than loaded ones and deltas smaller than both.
class cost_model {
 public:
  cost_model(const sema::program& source, const statistics& known);

  /// Rows of a part of a relation, at least 1.
  [[nodiscard]] double rows(relation_id relation, part rows) const;
  /// Whether they were counted; else they are an estimate.
  [[nodiscard]] bool knows_rows(relation_id relation) const { return relations_[relation.value].is_known; }

  /// Rows of the part that agree with one binding in the given columns, may be below 1. With known numbers of distinct
  /// values: rows over the combinations of them, and some times that where no column is a key; otherwise
  /// rows^(1 - bound / arity).
  [[nodiscard]] double fan_out(relation_id relation, part rows, const std::vector<std::uint32_t>& bound_columns) const;

  /// About how many different values a column has; 0: unknown.
  [[nodiscard]] std::uint64_t distinct_values(column_place column) const;

  /// For a relation that was added.
  void set_rows(relation_id relation, double rows);
  /// Adds a relation behind the last one, taken to have as many rows as `head`.
  void add_relation(std::uint32_t arity, relation_id head);
  /// What a rule says of the numbers of distinct values of its head, a relation that was added.
  void learn_distinct_values(const normalized_rule& rule);

  /// From here on what is measured of the relation counts, no estimate: it is complete, or grows and is measured again
  /// before it is estimated with. The measures outlive the model.
  void measure(relation_id relation, const relation_measures& measures);
  /// Estimates the relations of a stratum again, as what it reads is known better now.
  void estimate_again(const sema::program& source, const std::vector<relation_id>& members);

 private:
  struct entry {
    double rows = 1;
    std::uint32_t arity = 0;
    std::vector<std::uint64_t> distinct_values;
    bool is_known = false;                          ///< `rows` is no estimate
    std::optional<relation_id> head = {};           ///< of a relation that was added
    const relation_measures* measures = nullptr;    ///< nullptr: it was not measured
    double loaded_rows = 1;                         ///< before estimates, and
    std::vector<std::uint64_t> loaded_values = {};  ///< their numbers of distinct values
  };
  void spread_statistics(const sema::program& source);
  void spread_statistics(const sema::program& source, const sema::stratum& stratum);
  void spread_distinct_values(const sema::program& source, const sema::stratum& stratum);
  /// In a column of a rule's head; 0: unknown.
  [[nodiscard]] std::uint64_t distinct_values_of(const sema::rule& rule, std::uint32_t head_column) const;
  [[nodiscard]] std::optional<double> rows_of_rule(const sema::rule& rule) const;
  [[nodiscard]] std::optional<double> rows_of_rules(const sema::program& source, const sema::stratum& stratum) const;
  /// As fan_out, for a value that is no more often looked for than another one.
  [[nodiscard]] double average_fan_out(relation_id relation, part rows,
                                       const std::vector<std::uint32_t>& bound_columns) const;
  /// Of a relation that is complete, and whose rows are at hand.
  [[nodiscard]] std::optional<double> measured_fan_out(relation_id relation,
                                                       const std::vector<std::uint32_t>& bound_columns) const;
  static bool knows_values(const entry& known, const std::vector<std::uint32_t>& columns);
  /// Of columns whose numbers of values are known.
  static bool has_key_among(const entry& known, const std::vector<std::uint32_t>& columns);
  void bound_combinations(relation_id relation);

  std::vector<entry> relations_;
  double largest_loaded_ = 1;
  std::vector<std::optional<std::size_t>> stratum_of_;  ///< by relation of the source: the stratum that derives it
};

/// Share of bindings that a condition or an existence test is taken to keep.
inline constexpr double equality_selectivity = 0.1;
inline constexpr double filter_selectivity = 0.5;

}  // namespace gpulog::plan
