#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "engine/again/continued_evaluation.hpp"
#include "engine/again/earlier_rows.hpp"
#include "engine/evaluation.hpp"
#include "engine/rows/column_index.hpp"
#include "engine/rows/element_classes.hpp"
#include "engine/rows/fact_store.hpp"
#include "engine/rows/row_difference.hpp"
#include "engine/run_context.hpp"

namespace gpulog::detail {

/// The cost of earlier deletions, which decides about later deletions.
struct deletion_regret {
  double factor = 1;        ///< doubled by abandoned deletions, halved by others
  double seconds_anew = 0;  ///< of the relations that were recomputed since the last takeover of results
};

/// The evaluations of a run, and the rows of relations: results, or facts before the first evaluation. The member
/// functions are in separate files by subject: evaluate_again.cpp (changed facts after an evaluation),
/// continue_evaluation.cpp (continuation from inserted facts), change_program.cpp (another program), changed_rows.cpp
/// (tuples that an evaluation added and removed).
class evaluations {
 public:
  evaluations(run_context& run, fact_store& facts) : run_(run), facts_(facts) {}

  /// Evaluates the program. After the first evaluation, only relations with changed facts and their dependents are
  /// evaluated. After a failure, only reset() is valid.
  /// @param keeps_changes whether changes_of() describes this evaluation; false: an earlier one
  void evaluate(bool keeps_changes = true);
  /// Takes over the results of an earlier process, as after an evaluation.
  /// @param seconds by relation: of its evaluation from scratch
  void restore(std::shared_ptr<evaluation> stored, std::vector<double> seconds, const deletion_regret& earlier);
  /// Forgets all evaluations.
  void reset();
  /// Forgets the results that another program cannot use; the context still holds the old program.
  void prepare_for(const sema::program& next);
  /// Runs a change of the program. After a failure, only reset() is valid.
  void change(const std::function<void()>& work);
  /// @throws input_error during an evaluation, and after an evaluation failed
  void require_changes(const std::string& subject = "facts") const;
  void require_changeable(std::uint32_t relation) const { require_changes("relation " + run_.relation(relation).name); }

  [[nodiscard]] bool is_evaluating() const { return state_ == state::evaluating; }
  /// Returns whether the last evaluation succeeded.
  [[nodiscard]] bool has_results() const { return state_ == state::evaluated; }
  /// Returns whether an evaluation was begun.
  [[nodiscard]] bool has_begun() const { return !homes_.empty(); }
  /// Returns whether some evaluation holds the rows of the relation; false if the relation was never needed.
  [[nodiscard]] bool has_results_of(std::uint32_t relation) const { return has_results() && homes_[relation]; }
  /// Returns whether an evaluation holds all rows of the relation instead of only the requested ones.
  [[nodiscard]] bool is_complete(relation_id relation) const;
  /// Returns the evaluation that holds the rows of the relation; nullptr: none.
  [[nodiscard]] std::shared_ptr<evaluation> home(std::uint32_t relation) const {
    return relation < homes_.size() ? homes_[relation] : nullptr;
  }
  /// Returns whether the rows of a relation are those of an earlier evaluation, in the same order, and appended rows.
  [[nodiscard]] bool extends(const evaluation& earlier, std::uint32_t relation) const {
    const evaluation* const here = homes_[relation].get();
    return here == &earlier || (here == continuing_.get() && continuing_ && continuing_->extends(earlier, relation));
  }
  /// Returns the last evaluation, which may still run; nullptr: none.
  [[nodiscard]] const evaluation* current() const { return current_.get(); }
  /// Returns the evaluations of the last evaluate(), in order.
  [[nodiscard]] const std::vector<std::shared_ptr<evaluation>>& latest() const { return latest_; }

  /// Returns the time of the relation's last evaluation from scratch, as a part of its stratum.
  [[nodiscard]] double seconds_of(std::uint32_t relation) const {
    return relation < seconds_of_.size() ? seconds_of_[relation] : 0;
  }
  /// Returns the regret for restore() in another process.
  [[nodiscard]] deletion_regret regret() const { return {erasing_factor_, earlier_seconds_anew_ + seconds_anew_}; }
  [[nodiscard]] std::uint64_t rows(std::uint32_t relation) const;
  [[nodiscard]] word at(std::uint32_t relation, std::uint64_t row, std::size_t column) const;
  /// Returns the columns after the evaluation. Not valid for equivalence relations.
  /// @throws memory_limit_error
  [[nodiscard]] const std::vector<const word*>& columns_of(std::uint32_t relation) const;
  /// Returns a copy of the rows of the last evaluation; empty without one.
  [[nodiscard]] std::vector<staged_rows> results_of(std::uint32_t relation) const;
  /// Returns whether the relation contains the row.
  /// @throws memory_limit_error
  [[nodiscard]] bool contains(std::uint32_t relation, std::span<const word> row);

  /// Keeps the data that changes_of() needs, from the next evaluation.
  void keep_changes(std::uint32_t relation);
  [[nodiscard]] bool keeps_changes(std::uint32_t relation) const;
  /// Returns the tuples that the last evaluation added and removed.
  /// @throws input_error for a relation whose earlier tuples a state file lacks; memory_limit_error,
  ///   backend::memory_exceeded
  [[nodiscard]] row_changes changes_of(std::uint32_t relation) const;

  void use_executors_of(executor_maker make) { make_other_executor_ = std::move(make); }

 private:
  enum class state : std::uint8_t { none, evaluating, failed, evaluated };
  /// The changes since the last evaluation, by relation.
  struct changes {
    std::vector<bool> changed;
    std::vector<bool> erased;    ///< lost facts or holds no rows: cannot be continued
    std::vector<bool> affected;  ///< changed or dependent, and needed
    std::vector<bool> left;      ///< changed or dependent, but not needed now
  };

  [[nodiscard]] const sema::program& analysed() const { return run_.analysed(); }
  void attempt(bool keeps_changes);
  void note_seconds(double share);
  void evaluate_first();
  [[nodiscard]] std::shared_ptr<const sema::program> first_program() const;
  void keep_facts(const sema::program& first);
  /// Stages the facts of the text of relations that no output needs: a later program may need them.
  void stage_other_facts(const sema::program& first);
  /// Evaluates a program, or a part of it, on the staged rows.
  /// @param relations relations whose rows the evaluation will hold
  void evaluate_staged(std::shared_ptr<const sema::program> part, const std::vector<bool>& relations);
  /// Registers the current evaluation as the holder of the relations' rows.
  void move_home(const std::vector<bool>& relations);
  void forget_indexes(std::uint32_t relation);
  /// Clears the figures of the last evaluation.
  void forget_latest();

  [[nodiscard]] const std::vector<const word*>& columns_of(evaluation& home, std::uint32_t relation) const;
  [[nodiscard]] std::vector<staged_rows> rows_of(evaluation& home, std::uint32_t relation) const;
  [[nodiscard]] staged_rows shown_rows_of(std::uint32_t relation) const;
  [[nodiscard]] row_view rows_in(evaluation& home, std::uint32_t relation, staged_rows& pairs) const;
  [[nodiscard]] bool moves_rows(std::uint32_t relation) const;
  void note_rows_before();

  void evaluate_again();
  [[nodiscard]] changes find_changes() const;
  [[nodiscard]] std::vector<bool> with_incomplete(std::vector<bool> affected) const;
  void begin_anew(const std::vector<bool>& relations);
  void stage_facts_of(std::uint32_t relation);
  void stage_results_of(std::uint32_t relation);
  [[nodiscard]] std::vector<bool> growing_now(const changes& now);
  void forget_stale(const std::vector<bool>& anew);
  [[nodiscard]] bool inserts_little(const std::vector<bool>& growing) const;
  [[nodiscard]] double seconds_to_take_over(const std::vector<bool>& growing, bool loses) const;
  [[nodiscard]] double seconds_from_scratch(const std::vector<bool>& growing) const;
  [[nodiscard]] bool pays_to_take_over(const std::vector<bool>& growing, bool loses) const;
  void note_seconds_anew();
  void take_over(const changes& now, const std::vector<bool>& growing, bool loses);
  /// @return false if the evaluation was abandoned, without any effect
  [[nodiscard]] bool go_on(const std::vector<bool>& growing);
  [[nodiscard]] bool can_erase(const std::vector<bool>& growing) const;
  [[nodiscard]] std::uint64_t most_deleted(const std::vector<bool>& growing) const;
  [[nodiscard]] bool erase_facts(const std::vector<bool>& growing);
  [[nodiscard]] std::vector<bool> growing_with(const changes& now, const std::vector<bool>& affected, bool loses) const;

  run_context& run_;
  fact_store& facts_;
  std::atomic<state> state_ = state::none;
  std::shared_ptr<evaluation> current_;
  std::vector<std::shared_ptr<evaluation>> homes_;  ///< by relation; empty before the first evaluation
  std::vector<std::shared_ptr<evaluation>> latest_;
  std::vector<bool> stale_;  ///< by relation: whether its rows are outdated because no output needed them
  std::shared_ptr<continued_evaluation> continuing_;  ///< continued with inserted facts, if any
  std::vector<bool> waiting_;                         ///< relations evaluated anew until continuing is worthwhile
  double seconds_anew_ = 0;                           ///< total seconds for relations in `waiting_`
  double earlier_seconds_anew_ = 0;                   ///< the same in earlier processes
  double seconds_taken_over_ = 0;                     ///< expected, of a takeover in this evaluation; 0: none
  bool has_erased_ = false;                           ///< whether a continuing evaluation was to erase facts
  double erasing_factor_ = 1;                         ///< doubled by abandoned deletions, halved by others
  std::vector<double> seconds_of_;                    ///< by relation: seconds_of()
  bool is_restored_ = false;
  std::vector<bool> changes_kept_;  ///< by relation: keep_changes(); may be shorter
  /// By relation, before the last evaluation; nothing: not kept. Empty before the first.
  std::vector<std::optional<earlier_rows>> before_;
  /// Indexes for contains(), built on first use: tuple sets are freed by then, or are on a device.
  std::map<std::uint32_t, column_index> row_indexes_;
  std::map<std::uint32_t, element_classes> classes_;
  executor_maker make_other_executor_;
};

}  // namespace gpulog::detail
