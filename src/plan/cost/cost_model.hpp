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
  /// values: rows over the combinations of them, and some times that where no column is a key; otherwise the least of
  /// rows^(1 - bound / arity), of what the bound columns leave whose values are known, and of the combinations that the
  /// other columns can have.
  [[nodiscard]] double fan_out(relation_id relation, part rows, const std::vector<std::uint32_t>& bound_columns) const;

  /// Of the values of a column, each taken as often as its rows have it, the share that another one has, too: from both
  /// samples, or by the numbers of values, the fewer of which are taken to be some of the others. 1: nothing is known.
  [[nodiscard]] double found_share(column_place probing, column_place searched) const;

  /// Rows of the part that such a value finds in the other column, from both samples: more than fan_out() says where
  /// values of many rows here have many there, too. Nothing: samples do not tell it.
  [[nodiscard]] std::optional<double> joined_fan_out(column_place probing, column_place searched, part rows) const;

  /// About how many different values a column has; 0: unknown.
  [[nodiscard]] std::uint64_t distinct_values(column_place column) const;

  /// From here on an order pays for the indexes that it needs, but for these. @param without_set relations whose tuples
  /// are looked for in an index of all columns
  void charge_indexes(const std::vector<index>& there, std::set<relation_id> without_set);
  /// Ends charge_indexes(): indexes cost nothing.
  void expect_all_indexes() { indexed_.reset(); }
  /// The index that a search needs will be there, for the orders that come.
  void expect_index(relation_id relation, const std::vector<std::uint32_t>& columns);
  /// What the index for a search costs, in bindings. @param columns ascending
  [[nodiscard]] double index_cost(relation_id relation, const std::vector<std::uint32_t>& columns) const;

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
  /// What measures said since the relation was measured: a search for an order asks the same again and again.
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
    bool is_known = false;                          ///< `rows` is no estimate
    std::optional<relation_id> head = {};           ///< of a relation that was added
    const relation_measures* measures = nullptr;    ///< nullptr: it was not measured
    double loaded_rows = 1;                         ///< before estimates, and
    std::vector<std::uint64_t> loaded_values = {};  ///< their numbers of distinct values
    mutable std::vector<told_fan_out> told_fan_outs = {};
    mutable std::vector<told_join> told_joins = {};
    mutable std::uint64_t told_at = 0;  ///< measured_times_, when the joins were told
  };
  void spread_statistics(const sema::program& source);
  void spread_statistics(const sema::program& source, const sema::stratum& stratum);
  void spread_distinct_values(const sema::program& source, const sema::stratum& stratum);
  /// In a column of a rule's head; 0: unknown.
  [[nodiscard]] std::uint64_t distinct_values_of(const sema::rule& rule, std::uint32_t head_column) const;
  [[nodiscard]] std::optional<double> rows_of_rule(const sema::rule& rule) const;
  [[nodiscard]] std::optional<double> rows_of_rules(const sema::program& source, const sema::stratum& stratum) const;
  struct average_rows {
    double average = 0;
    bool may_be_skewed = false;
  };
  /// As fan_out, for a value that is no more often looked for than another one.
  [[nodiscard]] average_rows average_fan_out(relation_id relation, part rows,
                                             const std::vector<std::uint32_t>& bound_columns) const;
  /// Of a relation that is complete, and whose rows are at hand.
  [[nodiscard]] std::optional<double> measured_fan_out(relation_id relation,
                                                       const std::vector<std::uint32_t>& bound_columns) const;
  [[nodiscard]] std::optional<measured_join> join_of(column_place probing, column_place searched) const;
  /// Where the number of values of some bound column is not known: the least of what bounds tell.
  [[nodiscard]] double bounded_fan_out(const entry& known, double total,
                                       const std::vector<std::uint32_t>& bound_columns) const;
  static double combinations_of(const entry& known, const std::vector<std::uint32_t>& columns);
  static bool knows_values(const entry& known, const std::vector<std::uint32_t>& columns);
  /// Of columns whose numbers of values are known.
  static bool has_key_among(const entry& known, const std::vector<std::uint32_t>& columns);
  void bound_combinations(relation_id relation);

  /// Columns of the indexes that relations have, ascending.
  using indexed_columns = std::map<relation_id, std::vector<std::vector<std::uint32_t>>>;

  std::vector<entry> relations_;
  std::uint64_t measured_times_ = 0;
  std::optional<indexed_columns> indexed_;  ///< nothing: indexes cost nothing
  std::set<relation_id> without_set_;
  double largest_loaded_ = 1;
  std::vector<std::optional<std::size_t>> stratum_of_;  ///< by relation of the source: the stratum that derives it
};

}  // namespace gpulog::plan
