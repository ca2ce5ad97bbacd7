#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "kernels/join/pipeline.hpp"

/// Row-wise evaluation of head(x,y) :- from(x,w), to(w,y), one x at a time: a row of the result. Values y are grouped
/// into bitmap words: each w contributes a word once, however many values the word has, and a candidate is such a word.
/// The results of the current row are in memory close to one worker (a block on a device) and are written out once, so
/// that duplicates are found without a tuple set.
namespace gpulog::kernels {

/// Values must be below this bound to fit into a row's bitmap; otherwise rules run as pipelines.
constexpr std::uint64_t most_row_values = 1ULL << 27;

/// Two columns of a relation; key and value may be the same column.
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
  double last_candidates = 0;  ///< candidates of the last run, for versions of a phase; infinite before the first run
};

/// A comparison that results must satisfy.
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
  bool forced = false;                         ///< evaluate row by row whenever possible, for tests
  bool needs_set = false;                      ///< the result needs membership tests later
  bool may_keep_words = false;                 ///< all readers of the result accept rows of bits (storage::word_rows)
};

struct row_counts {
  std::vector<std::uint64_t> candidates;  ///< tuples derived, by rule; for a rule without `to`, its rows
};

/// When row-wise evaluation pays: preparation costs time per row read, a set costs time per candidate.
struct row_wise_cut_offs {
  std::uint64_t least_rows;         ///< of all relations read
  double least_candidates;          ///< derived tuples, including duplicates
  double least_candidates_per_row;  ///< per row of the relations read, each relation counted once
  /// If a set is needed anyway and results rarely repeat, a pipeline is better, because inserting the results builds
  /// the set.
  double least_candidates_per_result;

  [[nodiscard]] bool pays(double candidates, std::uint64_t rows) const {
    return candidates >= least_candidates && candidates >= least_candidates_per_row * static_cast<double>(rows);
  }
};

}  // namespace gpulog::kernels
