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

/// How often each key is in a sample.
struct sampled_keys {
  struct counted {
    std::uint32_t hash;
    std::uint32_t count;
  };
  std::vector<counted> counts;  ///< by ascending hash
  std::uint64_t rows = 0;       ///< of the sample
  std::uint64_t all_rows = 0;   ///< of the relation
  double all_keys = 0;          ///< about how many the relation has
  double rows_per_key = 0;      ///< key_counter::rows_per_key() of the column
};

/// What the rows that one sample stands for find in another relation, from the keys that both samples have (correlated
/// samples: Vengerov and others, VLDB 2015). Nothing: too few keys could be in both.
/// @param equal_rows of both samples: a row that is in both relations is in both samples or in none, so that it matches
/// itself more often than others match each other
[[nodiscard]] std::optional<plan::measured_join> join_of(const sampled_keys& probing, const sampled_keys& searched,
                                                         std::uint64_t equal_rows = 0);

/// Counts keys of samples.
class key_counter {
 public:
  /// About how many rows of a relation agree in some columns, from a sample of its rows: the geometric mean of the
  /// average of all keys (their number by the sample's coverage: Chao and Lee, JASA 1992) and the average of all rows,
  /// which a skewed relation has larger.
  /// @param rows of the relation @param columns of the sample, at least one
  [[nodiscard]] double rows_per_key(std::uint64_t rows, const std::vector<const std::vector<word>*>& columns);
  /// Of the rows of a sample, ascending.
  [[nodiscard]] std::vector<sampled_keys::counted> row_hashes(const storage::sampled_rows& sample);
  /// Of two samples, by row_hashes().
  [[nodiscard]] static std::uint64_t equal_rows(const std::vector<sampled_keys::counted>& hashes,
                                                const std::vector<sampled_keys::counted>& others);
  /// The keys of one column.
  [[nodiscard]] sampled_keys keys_of(std::uint64_t rows, const std::vector<word>& column);

 private:
  using counted = sampled_keys::counted;
  /// How often combinations of values are in some columns.
  struct key_counts {
    std::uint64_t keys = 0;
    std::uint64_t twice = 0;  ///< keys of two rows or more
    std::uint64_t pairs = 0;  ///< of rows with one key
  };
  [[nodiscard]] key_counts count(const std::vector<const std::vector<word>*>& columns);
  /// @param hash_of of each row
  template <class HashOf>
  [[nodiscard]] key_counts count_hashes(std::size_t rows, const HashOf& hash_of);
  [[nodiscard]] std::vector<counted> in_order(std::uint64_t keys) const;
  /// The keys of all rows, by those of a sample.
  [[nodiscard]] static double all_keys(std::uint64_t rows, std::uint64_t sampled, const key_counts& counts);
  [[nodiscard]] static double rows_per_key(std::uint64_t rows, std::uint64_t sampled, const key_counts& counts);

  // A table of keys; memory is got once.
  std::vector<std::uint32_t> slot_hashes_;
  std::vector<std::uint32_t> slot_counts_;  ///< 0: free
  std::vector<std::uint32_t> hashes_;       ///< of all rows
};

/// Counts the rows of relations while an executor runs strata, from samples. Each relation is sampled once, and again
/// when it has grown much.
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
    std::uint64_t rows = 0;  ///< when it was sampled
    std::optional<storage::sampled_rows> sample;
    std::map<std::vector<std::uint32_t>, std::optional<double>> rows_per_key;  ///< by columns
    std::map<std::uint32_t, sampled_keys> keys;                                ///< by column
    std::vector<sampled_keys::counted> row_hashes;                             ///< of the sample, ascending
    struct known_join {
      std::uint64_t probing_rows = 0;  ///< when the probing relation was sampled
      std::optional<plan::measured_join> found;
    };
    /// By column, of searches by the values of another one.
    std::map<std::pair<std::uint32_t, plan::column_place>, known_join> joins;
  };

  /// Of a relation as it is now, or was not long ago.
  [[nodiscard]] measured& measured_of(relation_id relation) const;
  void sample(const std::vector<relation_id>& relations) const;
  /// Takes one, where there is none yet. Whether it has rows.
  [[nodiscard]] bool has_sample(relation_id relation, const measured& known) const;
  [[nodiscard]] const std::vector<sampled_keys::counted>& row_hashes_of(relation_id relation) const;
  /// nullptr: the relation has no rows at hand.
  [[nodiscard]] const sampled_keys* keys_of(plan::column_place column) const;

  exec::executor& running_;
  mutable std::map<relation_id, measured> measured_;
  mutable key_counter counter_;
};

}  // namespace gpulog::detail
