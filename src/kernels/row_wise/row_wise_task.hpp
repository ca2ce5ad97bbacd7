#pragma once

#include <cstdint>
#include <vector>

#include "kernels/join/pipeline.hpp"
#include "support/row_equations.hpp"

/// Row-wise evaluation of head(x,y) :- left(x,u), right(u,y), one x at a time: a row of the result. Targets y are
/// grouped into bitmap words: each u contributes a word once, however many targets the word has, and a candidate is
/// such a word. The results of the current row are in memory close to one worker (a block on a device) and are written
/// out once, so that duplicates are found without a tuple set.
namespace gpulog::kernels {

/// Values must be below this bound to fit into a row's bitmap; otherwise rules run as pipelines.
constexpr std::uint64_t most_row_values = 1ULL << 27;

/// Equations of first rules. The constants of the filters are words.
struct row_wise_task : row_equations {
  std::vector<double> last_candidates;         ///< of a phase, by rule: of the last run; infinite before the first run
  const storage::wide_values* wide = nullptr;  ///< of the words that filters compare; nullptr: words have 32 bits
  work_budget* budget = nullptr;               ///< on a CPU; nullptr: the evaluation may spend anything
  bool forced = false;                         ///< evaluate row by row whenever possible, for tests
  bool needs_set = false;                      ///< the result needs membership tests later
  bool may_keep_words = false;                 ///< all readers of the result accept rows of bits (storage::word_rows)
};

/// Returns the pairs whose values are the targets of a first rule.
[[nodiscard]] inline const column_pairs& target_pairs(const row_rule& rule) {
  return rule.right ? *rule.right : *rule.left;
}

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
