#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "exec/executor.hpp"
#include "plan/cost/relation_measures.hpp"

namespace gpulog::detail {

/// Counts keys of samples.
class key_counter {
 public:
  /// About how many rows of a relation agree in some columns, from a sample of its rows: the geometric mean of the
  /// average of all keys (their number by the sample's coverage: Chao and Lee, JASA 1992) and the average of all rows,
  /// which a skewed relation has larger.
  /// @param rows of the relation @param columns of the sample, at least one
  [[nodiscard]] double rows_per_key(std::uint64_t rows, const std::vector<const std::vector<word>*>& columns);

 private:
  struct counted {
    std::uint32_t hash = 0;
    std::uint32_t count = 0;  ///< 0: free
  };
  /// How often combinations of values are in some columns.
  struct key_counts {
    std::uint64_t keys = 0;
    std::uint64_t single = 0;  ///< keys of one row
    std::uint64_t pairs = 0;   ///< of rows with one key
  };
  [[nodiscard]] key_counts count(const std::vector<const std::vector<word>*>& columns);

  std::vector<counted> table_;  ///< memory is got once
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
  [[nodiscard]] bool is_searched(relation_id relation, const std::vector<std::uint32_t>& columns) const override;

 private:
  struct measured {
    std::uint64_t rows = 0;  ///< when it was sampled
    std::optional<storage::sampled_rows> sample;
    std::map<std::vector<std::uint32_t>, std::optional<double>> rows_per_key;  ///< by columns
  };

  /// Of a relation as it is now, or was not long ago.
  [[nodiscard]] measured& measured_of(relation_id relation) const;
  void sample(const std::vector<relation_id>& relations) const;

  exec::executor& running_;
  mutable std::map<relation_id, measured> measured_;
  mutable key_counter counter_;
};

}  // namespace gpulog::detail
