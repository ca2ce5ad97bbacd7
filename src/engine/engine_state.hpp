#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "backend/cpu/more_threads.hpp"
#include "engine/evaluations.hpp"
#include "engine/figures/run_report.hpp"
#include "engine/proofs/proof_search.hpp"
#include "engine/rows/fact_store.hpp"
#include "engine/rows/program_files.hpp"
#include "engine/run_context.hpp"
#include "engine/state/stored_results.hpp"
#include "gpulog/answer.hpp"
#include "gpulog/options.hpp"

namespace gpulog::detail {

class shown_rows;

/// A run of a program: the owner of its parts. Loading precedes planning because the plan depends on the sizes of the
/// inputs.
class engine_state : public std::enable_shared_from_this<engine_state> {
 public:
  engine_state(std::shared_ptr<const program_state> source, run_options chosen);

  [[nodiscard]] const run_context& run() const { return run_; }
  [[nodiscard]] run_context& run() { return run_; }
  [[nodiscard]] const fact_store& facts() const { return facts_; }
  [[nodiscard]] fact_store& facts() { return facts_; }
  [[nodiscard]] const evaluations& results() const { return results_; }
  [[nodiscard]] evaluations& results() { return results_; }
  [[nodiscard]] run_report& report() { return report_; }
  /// Returns the search for proofs.
  /// @throws input_error without run_options::proofs, and before the evaluation
  [[nodiscard]] proof_search& proof_finder();

  /// Checks the outputs and restores run_options::state_file, if there is a usable file.
  /// @throws input_error for an unusable file, with run_options::state_is_required
  void begin_run();
  /// Stores the results in run_options::state_file.
  void end_run();
  void load();
  void evaluate();
  void write();
  /// Implement engine::save and engine::restore.
  void save(const std::string& path);
  void restore(const std::string& path);
  /// Returns to the state before any facts were loaded.
  void reset();
  /// Implements engine::changes.
  [[nodiscard]] row_changes changes_of(std::uint32_t relation) const;
  /// Implements engine::on_change.
  void on_change(std::uint32_t relation, std::function<void(const changed_rows&)> function);
  /// Calls the functions of on_change() whose relations the last evaluation changed.
  void report_changes(const std::function<changed_rows(std::uint32_t relation)>& changes);
  /// Returns whether a query may only follow an evaluation of the program: the first, or an evaluation whose changes
  /// are kept.
  [[nodiscard]] bool must_evaluate_first() const;
  /// Implements engine::change_program.
  [[nodiscard]] bool change_program(std::shared_ptr<const program_state> next);
  /// Implements engine::query, for the program with the query.
  [[nodiscard]] shown_rows rows_of_query(std::shared_ptr<const program_state> next);

 private:
  void restore_for_run();
  void evaluate(bool keeps_changes);
  void within_memory(const char* doing, const std::function<void()>& work) const;
  void exchange_program(std::shared_ptr<const program_state> next);
  void take_program(std::shared_ptr<const program_state> next);
  /// Prepares facts and files for the relations of the current program.
  void fit_to_program();

  run_context run_;
  std::optional<backend::cpu::more_threads> more_threads_;
  fact_store facts_;
  evaluations results_;
  program_files files_;
  stored_results stored_;
  run_report report_;
  std::shared_ptr<const program_state> before_query_;  ///< the program without the last query; nullptr: no query
  std::unique_ptr<proof_search> proofs_;               ///< for the last evaluation; nullptr: not yet requested
  std::map<std::uint32_t, std::function<void(const changed_rows&)>> on_change_;  ///< by relation
  bool is_reporting_ = false;
};

}  // namespace gpulog::detail
