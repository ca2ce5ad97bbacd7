#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "engine/again/continuation.hpp"
#include "engine/evaluation.hpp"
#include "engine/rows/row_difference.hpp"

namespace gpulog::detail {

/// An evaluation that continues with inserted facts: its program is a single recursion, and its executor is kept for
/// later facts (docs/adr/0037-continuation.md).
class continued_evaluation final : public evaluation {
 public:
  /// @param changed by relation: relations whose changed facts the plan expects
  /// @param growing relations of the recursion
  /// @param loses whether the relations can also lose tuples: makes sets and joins slower
  continued_evaluation(run_context& run, std::vector<bool> changed, std::vector<bool> growing, bool loses);

  [[nodiscard]] const std::vector<bool>& changed() const { return changed_; }
  [[nodiscard]] const std::vector<bool>& growing() const { return growing_; }
  /// Returns the growing relations and the relations that the recursion reads.
  [[nodiscard]] const std::vector<bool>& held() const { return held_; }
  /// Returns whether the relations can lose tuples.
  [[nodiscard]] bool loses() const { return loses_; }
  /// Returns whether views of columns exist, so that rows must not move.
  [[nodiscard]] bool is_shown() const { return shown().use_count() > 1; }
  void resize(std::size_t relations);

  /// Plans the recursion and takes over the staged results of held relations, then evaluates the auxiliary relations
  /// once.
  /// @param sources by relation: the evaluation that keeps the staged columns; nullptr: the columns are copies
  void take_over(fact_store& results, std::vector<std::shared_ptr<const evaluation>> sources);
  /// Returns whether the rows of a relation are those of an earlier evaluation, in the same order, and appended rows.
  [[nodiscard]] bool extends(const evaluation& earlier, std::uint32_t relation) const {
    return sources_[relation].get() == &earlier && !has_lost_[relation];
  }
  /// Returns whether the staged results of a relation become its rows without another test for duplicates.
  [[nodiscard]] bool adopts(std::uint32_t relation) const { return loses_ || !growing_[relation]; }
  /// Notes the rows for changes_of(). Call before erase() and go_on().
  void note_rows();
  /// Removes the erased facts of growing relations, and the derived tuples without another derivation, by deletion and
  /// rederivation. Tuples with another derivation wait for go_on().
  /// @param most maximum number of tuples to delete before rederivation
  /// @return false without any effect if more tuples would be deleted; then only the results can be read
  [[nodiscard]] bool erase(const fact_store& facts, std::uint64_t most);
  /// Continues the evaluation from the staged facts of growing relations, and keeps them unless the relation is a plain
  /// input.
  void go_on(fact_store& facts);
  /// Returns the tuples that a growing relation gained and lost since note_rows(); for a relation whose rows do not
  /// move.
  [[nodiscard]] row_changes changes_of(std::uint32_t relation) const;

 private:
  using program_pointer = std::shared_ptr<const sema::program>;
  continued_evaluation(run_context& run, std::pair<program_pointer, erasing_relations> parts, std::vector<bool> changed,
                       std::vector<bool> growing, bool loses);
  [[nodiscard]] static std::pair<program_pointer, erasing_relations> program_for(const run_context& run,
                                                                                 const std::vector<bool>& growing,
                                                                                 bool loses);
  /// Returns the number of the stratum of the plan that computes a relation.
  [[nodiscard]] std::size_t stratum_of(relation_id relation) const;
  [[nodiscard]] bool find_deleted(const fact_store& facts, std::uint64_t most);
  void tell(const exec::progress& now);
  /// Notes tuples of `deleted` that the relation lost.
  void note_erased(relation_id relation, const std::vector<std::uint64_t>& numbers);

  /// Both the erased and the appended tuples include rederived tuples.
  struct row_change {
    staged_rows erased;
    std::uint64_t tuples = 0;  ///< without erased and appended tuples
  };

  std::size_t source_relations_;  ///< number of relations of the program; the planner adds further ones
  erasing_relations erasing_;     ///< empty unless loses()
  std::vector<bool> changed_, growing_, held_;
  std::vector<bool> has_lost_;                              ///< by relation: whether tuples were ever erased
  std::vector<std::shared_ptr<const evaluation>> sources_;  ///< of rows that the executor reads in place
  bool loses_;
  std::size_t recursion_ = 0;        ///< number of its stratum
  std::vector<row_change> changes_;  ///< by relation
  std::uint64_t most_deleted_ = UINT64_MAX;
  std::atomic<bool> has_ended_ = false;         ///< whether the search for deleted tuples must end
  exec::stratum_executor* executor_ = nullptr;  ///< the same object as evaluation::executor()
};

}  // namespace gpulog::detail
