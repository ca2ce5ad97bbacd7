#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "exec/executor.hpp"
#include "plan/cost/relation_measures.hpp"
#include "plan/plan.hpp"

namespace gpulog::detail {

/// Frequencies of the keys of a sample.
struct sampled_keys {
  struct counted {
    std::uint32_t hash;
    std::uint32_t count;
  };
  std::vector<counted> counts;  ///< in ascending order of hashes
  std::uint64_t rows = 0;       ///< rows of the sample
  std::uint64_t all_rows = 0;   ///< rows of the relation
  double all_keys = 0;          ///< approximate number of keys of the relation
  double rows_per_key = 0;      ///< key_counter::rows_per_key() of the column
};

/// Estimates a join from the keys that two correlated samples have in common (Vengerov and others, VLDB 2015). Empty if
/// too few keys could be in both samples.
/// @param equal_rows number of rows in both samples. A row of both relations is in both samples or in neither, so equal
///   rows match more often than independent rows.
[[nodiscard]] std::optional<plan::measured_join> join_of(const sampled_keys& probing, const sampled_keys& searched,
                                                         std::uint64_t equal_rows = 0);

/// Counts the keys in samples.
class key_counter {
 public:
  /// Estimates the number of rows of a relation that agree in some columns, from a sample: the geometric mean of the
  /// average over keys (with the number of keys from the sample's coverage: Chao and Lee, JASA 1992) and the average
  /// over rows, which is larger in a skewed relation.
  /// @param rows rows of the relation
  /// @param columns columns of the sample, at least one
  [[nodiscard]] double rows_per_key(std::uint64_t rows, const std::vector<const std::vector<word>*>& columns);
  /// Returns the hashes of a sample's rows, ascending.
  [[nodiscard]] std::vector<sampled_keys::counted> row_hashes(const storage::sampled_rows& sample);
  /// Counts the rows that two samples have in common, by row_hashes().
  [[nodiscard]] static std::uint64_t equal_rows(const std::vector<sampled_keys::counted>& hashes,
                                                const std::vector<sampled_keys::counted>& others);
  /// Counts the keys of one column.
  [[nodiscard]] sampled_keys keys_of(std::uint64_t rows, const std::vector<word>& column);

 private:
  using counted = sampled_keys::counted;
  /// Frequencies of combinations of values.
  struct key_counts {
    std::uint64_t keys = 0;
    std::uint64_t twice = 0;  ///< keys with at least two rows
    std::uint64_t pairs = 0;  ///< pairs of rows with equal keys
  };
  [[nodiscard]] key_counts count(const std::vector<const std::vector<word>*>& columns);
  /// @param hash_of returns the hash of a row
  template <class HashOf>
  [[nodiscard]] key_counts count_hashes(std::size_t rows, const HashOf& hash_of);
  [[nodiscard]] std::vector<counted> in_order(std::uint64_t keys) const;
  /// Estimates the number of keys of all rows from a sample.
  [[nodiscard]] static double all_keys(std::uint64_t rows, std::uint64_t sampled, const key_counts& counts);
  [[nodiscard]] static double rows_per_key(std::uint64_t rows, std::uint64_t sampled, const key_counts& counts);

  // Hash table of keys; its memory is reused.
  std::vector<std::uint32_t> slot_hashes_;
  std::vector<std::uint32_t> slot_counts_;  ///< 0: free
  std::vector<std::uint32_t> hashes_;       ///< hashes of all rows
};

/// Measures relations from samples while an executor runs strata. Each relation is sampled once, and again after
/// considerable growth.
class run_measures final : public plan::relation_measures {
 public:
  explicit run_measures(exec::executor& running) : running_(running) {}

  [[nodiscard]] std::uint64_t rows(relation_id relation) const override { return running_.rows(relation); }
  void expect(const std::vector<relation_id>& relations) const override;
  [[nodiscard]] std::optional<double> rows_per_key(relation_id relation,
                                                   const std::vector<std::uint32_t>& columns) const override;
  [[nodiscard]] std::optional<plan::measured_join> join_of(plan::column_place probing,
                                                           plan::column_place searched) const override;
  [[nodiscard]] bool is_searched(relation_id relation, const std::vector<std::uint32_t>& columns) const override;

 private:
  struct measured {
    std::uint64_t rows = 0;  ///< at the time of the sample
    std::optional<storage::sampled_rows> sample;
    std::map<std::vector<std::uint32_t>, std::optional<double>> rows_per_key;  ///< by columns
    std::map<std::uint32_t, sampled_keys> keys;                                ///< by column
    std::vector<sampled_keys::counted> row_hashes;                             ///< hashes of sampled rows, ascending
    struct known_join {
      std::uint64_t probing_rows = 0;  ///< at the time of the probing relation's sample
      std::optional<plan::measured_join> found;
    };
    /// By searched column and by the column that provides the values.
    std::map<std::pair<std::uint32_t, plan::column_place>, known_join> joins;
  };

  /// Returns the measures of a relation, which may be slightly out of date.
  [[nodiscard]] measured& measured_of(relation_id relation) const;
  void sample(const std::vector<relation_id>& relations) const;
  /// Samples the relation if necessary. Returns whether the sample has rows.
  [[nodiscard]] bool has_sample(relation_id relation, const measured& known) const;
  [[nodiscard]] const std::vector<sampled_keys::counted>& row_hashes_of(relation_id relation) const;
  /// Returns nullptr if the rows of the relation are not accessible.
  [[nodiscard]] const sampled_keys* keys_of(plan::column_place column) const;

  exec::executor& running_;
  mutable std::map<relation_id, measured> measured_;
  mutable key_counter counter_;
};

}  // namespace gpulog::detail
