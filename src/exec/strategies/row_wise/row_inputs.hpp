#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <tuple>
#include <vector>

#include "backend/array.hpp"
#include "backend/gpu/device.hpp"
#include "kernels/row_wise/row_wise_task.hpp"
#include "storage/relation/device_relation.hpp"
#include "storage/relation/largest_values.hpp"

/// The inputs of row-wise evaluation, prepared on a device.
namespace gpulog::kernels::gpu {
struct row_rule_view;
}

namespace gpulog::exec {

/// The rows of a task, and for each rule the words of each row.
class row_inputs {
 public:
  using relation_list = kernels::relation_list<storage::gpu::device_relation>;

  /// Only checks the ranges of values; prepare() does the rest.
  row_inputs(const backend::gpu::device_context& context, backend::memory_resource& resource,
             const kernels::row_wise_task& task, const relation_list& relations);
  ~row_inputs();
  row_inputs(const row_inputs&) = delete;
  row_inputs& operator=(const row_inputs&) = delete;

  /// Returns the number of rows of all relations read.
  [[nodiscard]] std::uint64_t rows_read() const { return rows_read_; }
  /// Returns an exclusive bound of the result values.
  [[nodiscard]] std::uint64_t values() const { return values_; }
  /// Returns whether positions fit into 32 bits.
  [[nodiscard]] bool can_be_prepared() const { return can_be_prepared_; }

  /// Estimates the number of candidates before the preparation.
  /// @return nothing if the values are too large
  [[nodiscard]] std::optional<double> expected_candidates() const;
  /// The same for one rule.
  [[nodiscard]] std::optional<double> expected_candidates(const row_rule& rule) const;
  /// @throws backend::memory_exceeded
  void prepare();

  [[nodiscard]] std::uint64_t rows() const { return rows_.size(); }
  [[nodiscard]] const word* row_values() const { return rows_.data(); }
  /// Returns the number of words by row, counting repetitions.
  [[nodiscard]] const std::uint64_t* work() const { return work_.data(); }
  [[nodiscard]] std::uint64_t total_work() const { return total_work_; }
  [[nodiscard]] std::uint64_t rule_count() const { return task_->rules.size(); }
  [[nodiscard]] const kernels::gpu::row_rule_view* rules() const;
  /// Returns the number of results, including duplicates, by rule.
  [[nodiscard]] const std::vector<std::uint64_t>& candidates() const { return candidates_; }

 private:
  struct pairs;  ///< sorted
  struct words;  ///< of the values of each key
  struct rule;
  using columns = std::tuple<relation_id, row_part, std::uint32_t, std::uint32_t>;
  using column_part = std::tuple<relation_id, row_part, std::uint32_t>;

  static columns place_of(const column_pairs& pairs) { return {pairs.relation, pairs.rows, pairs.key, pairs.value}; }
  [[nodiscard]] storage::gpu::column_values values_of(const column_part& part) const;
  [[nodiscard]] storage::gpu::column_values keys_of(const column_pairs& pairs) const {
    return values_of({pairs.relation, pairs.rows, pairs.key});
  }
  [[nodiscard]] storage::gpu::column_values values_of(const column_pairs& pairs) const {
    return values_of({pairs.relation, pairs.rows, pairs.value});
  }
  [[nodiscard]] word largest_key(const column_pairs& pairs) const {
    return largest_.at({pairs.relation, pairs.rows, pairs.key});
  }
  [[nodiscard]] word largest_value(const column_pairs& pairs) const {
    return largest_.at({pairs.relation, pairs.rows, pairs.value});
  }

  pairs& sorted(const column_pairs& wanted);
  words& words_of(const column_pairs& wanted);
  void sort(pairs& made, const column_pairs& from);
  void make_words(words& made, const pairs& from);
  void collect_rows();
  void find_largest();
  void find_items(rule& made, const row_rule& from);
  void place_rows(rule& made, const row_rule& from);

  const backend::gpu::device_context* context_;
  backend::memory_resource* resource_;
  const kernels::row_wise_task* task_;
  const relation_list* relations_;
  std::map<column_part, word> largest_;
  std::uint64_t rows_read_ = 0;
  std::uint64_t values_ = 0;
  bool can_be_prepared_ = true;
  // Vectors instead of maps: few entries, and clang 15 does not compile maps of unique pointers for HIP.
  std::vector<std::pair<columns, std::unique_ptr<pairs>>> sorted_;
  std::vector<std::pair<columns, std::unique_ptr<words>>> words_;
  std::vector<std::unique_ptr<rule>> rules_;
  backend::array<word> rows_;
  backend::array<std::uint64_t> work_;
  std::unique_ptr<backend::array<kernels::gpu::row_rule_view>> views_;
  std::vector<std::uint64_t> candidates_;
  std::uint64_t total_work_ = 0;
};

}  // namespace gpulog::exec
