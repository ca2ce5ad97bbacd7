#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "kernels/join/pipeline.hpp"

/// head(x,y) :- from(x,w), to(w,y), for one x at a time: a row of the result. Values y stand together as words of a bit
/// map: each w gives a word once, however many values are in it, and a candidate is such a word. The results of a row
/// so far are in memory that one worker (a block of a device) reaches fastest, and are written out once: so duplicates
/// are found without a set of tuples.
namespace gpulog::kernels {

/// Values from here on have no place in a row's bitmap: rules are run as pipelines.
constexpr std::uint64_t most_row_values = 1ULL << 27;

/// Two columns of a relation; key and value may be the same one.
struct pair_columns {
  relation_number relation = 0;
  std::uint32_t key = 0;
  std::uint32_t value = 0;
  row_part rows = row_part::all;
};

/// Without `to`: head(x,y) :- from(x,y).
struct row_rule {
  pair_columns from;
  std::optional<pair_columns> to;
  double last_candidates = 0;  ///< going by its last run, for versions of a phase; infinite: it had none
};

/// A comparison of words that results have to pass.
struct row_filter {
  enum class side : std::uint8_t { row, value, constant };
  comparison_op op = comparison_op::equal;
  side left = side::row;
  side right = side::value;
  word left_constant = 0;
  word right_constant = 0;
};

struct row_wise_task {
  relation_number target = 0;
  std::vector<row_rule> rules;
  std::vector<row_filter> filters;
  const storage::wide_values* wide = nullptr;  ///< of the words that filters compare; nullptr: words have 32 bits
  bool forced = false;                         ///< done wherever it can be, for tests
  bool needs_set = false;                      ///< the result is asked for membership afterwards
  bool may_keep_words = false;                 ///< whoever reads the result can read rows of bits (storage::word_rows)
};

struct row_counts {
  std::vector<std::uint64_t> candidates;  ///< tuples that a rule made, by rule; of a rule without `to`, its rows
};

/// When rows pay: preparing them takes time for every row that is read, and inserting into a set for every candidate.
struct row_wise_cut_offs {
  std::uint64_t least_rows;         ///< of all relations read
  double least_candidates;          ///< tuples that rules make, duplicates counted
  double least_candidates_per_row;  ///< of the relations read, each counted once
  /// Where a set is needed anyway and results hardly repeat, a pipeline is better: inserting the results makes the set,
  /// too.
  double least_candidates_per_result;

  [[nodiscard]] bool pays(double candidates, std::uint64_t rows) const {
    return candidates >= least_candidates && candidates >= least_candidates_per_row * static_cast<double>(rows);
  }
};

}  // namespace gpulog::kernels
