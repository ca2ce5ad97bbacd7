#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "engine/figures/plan_figures.hpp"
#include "engine/figures/run_measures.hpp"
#include "engine/rows/dense_domain_encoding.hpp"
#include "engine/rows/fact_store.hpp"
#include "engine/run_context.hpp"
#include "exec/executor.hpp"
#include "plan/plan.hpp"
#include "plan/reoptimizer.hpp"
#include "sema/program.hpp"

namespace gpulog::detail {

/// Creates an executor that replaces the executor of the chosen backend, in tests.
using executor_maker = std::function<std::unique_ptr<exec::executor>(const exec::options& chosen)>;

/// One evaluation of a program, or of the part affected by changed facts (affected.hpp), with its results. Uses memory
/// of the run, which must outlive the evaluation.
class evaluation {
 public:
  evaluation(run_context& run, std::shared_ptr<const sema::program> source)
      : run_(run), text_(run.source), source_(std::move(source)) {}
  evaluation(const evaluation&) = delete;
  evaluation& operator=(const evaluation&) = delete;
  virtual ~evaluation() = default;

  /// Plans and evaluates the program on the staged facts, which the executor takes over.
  /// @param make_other may be empty
  void evaluate(fact_store& facts, const executor_maker& make_other);

  [[nodiscard]] const plan::program& plan() const { return planner_->plan(); }
  /// Returns the plan that the executor runs.
  [[nodiscard]] const plan::program& running_plan() const { return numbers_ ? numbers_->plan() : plan(); }
  [[nodiscard]] const plan::reoptimizer& planner() const { return *planner_; }
  /// Returns the sizes that the planner assumed.
  [[nodiscard]] const plan_record& record() const { return record_; }
  [[nodiscard]] bool has_executor() const { return executor_ != nullptr; }
  [[nodiscard]] exec::executor& executor() const { return *executor_; }

  /// Returns whether the evaluation holds all rows of the relation instead of only the requested rows.
  [[nodiscard]] virtual bool has_all_rows(relation_id relation) const;
  /// Returns whether columns never change and take no memory, so that others may read them in place.
  [[nodiscard]] virtual bool has_lasting_rows() const { return false; }
  /// Returns the columns of a relation whose rules are evaluated here, except an equivalence relation. The columns stay
  /// valid as long as this object.
  /// @throws exec::memory_fault
  [[nodiscard]] const std::vector<const word*>& columns_of(std::uint32_t relation);
  [[nodiscard]] bool has_columns(std::uint32_t relation) const { return columns_.contains(relation); }
  /// Returns the encoding of values as numbers; nullptr if it does not cover the relation.
  [[nodiscard]] const dense_domain_encoding* encoding_of(std::uint32_t relation) const {
    return numbers_ && numbers_->covers(relation) ? &*numbers_ : nullptr;
  }
  /// Returns a value that views of columns outside the engine hold; while one exists, rows must not move.
  [[nodiscard]] const std::shared_ptr<const void>& shown() const { return shown_; }

 protected:
  /// Plans the program.
  /// @param has_results whether the staged rows of a relation with rules are its results
  /// @return statistics of the staged rows
  plan::statistics make_plan(const fact_store& facts, const plan::options& chosen, bool has_results);
  [[nodiscard]] exec::options execution_options();
  void set_executor(std::unique_ptr<exec::executor> executor);
  void hand_over(fact_store& facts);
  /// Call before rows are added.
  void forget_columns() { columns_.clear(); }
  [[nodiscard]] run_context& run() const { return run_; }

 private:
  [[nodiscard]] plan::statistics measure(const fact_store& facts, bool has_results) const;
  void encode_values(const plan::statistics& known, fact_store& facts);
  [[nodiscard]] std::unique_ptr<exec::executor> make_executor(const exec::options& chosen);
  [[nodiscard]] std::unique_ptr<exec::executor> make_device_executor(const exec::options& chosen);
  /// Reorders the joins of the next stratum.
  /// @param is_running true between two iterations of the stratum's loop; false before the stratum
  /// @return whether the plan changed
  [[nodiscard]] bool reoptimize(std::size_t stratum, bool is_running);
  /// Restores the order of a version of the running loop (plan::reoptimizer::put_back).
  [[nodiscard]] bool follow_abandoned_steps(std::size_t stratum);
  [[nodiscard]] bool put_back(std::size_t stratum, std::size_t version);
  [[nodiscard]] std::vector<relation_id> abandon(std::size_t stratum, relation_id supplementary);
  void take_over_plan(std::size_t stratum);
  [[nodiscard]] bool may_load_pieces(std::uint32_t relation) const;

  run_context& run_;
  std::shared_ptr<const program_state> text_;    ///< owns the text that locations in `source_` point to
  std::shared_ptr<const sema::program> source_;  ///< the evaluated program; the planner points to it
  std::optional<plan::reoptimizer> planner_;
  std::vector<bool> members_;  ///< by relation: whether a stratum of the plan contains it
  plan_record record_;
  std::optional<run_measures> measures_;  ///< measures of the executor
  /// Returns whether a stratum that a device supports can still run on the device; empty: no device.
  std::function<bool(std::size_t stratum)> suits_device_;
  /// Present while some values are encoded as numbers during the run. Reading results stores decoded columns here.
  std::optional<dense_domain_encoding> numbers_;
  std::unique_ptr<exec::executor> executor_;
  /// By relation; fetched on request, because rows may have to be copied from a device.
  std::map<std::uint32_t, std::vector<const word*>> columns_;
  std::shared_ptr<const void> shown_ = std::make_shared<char>();
};

}  // namespace gpulog::detail
