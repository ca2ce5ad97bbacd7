#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <vector>

#include "engine/evaluations.hpp"
#include "engine/rows/fact_store.hpp"
#include "engine/rows/program_files.hpp"
#include "engine/rows/row_difference.hpp"
#include "engine/run_context.hpp"
#include "engine/state/state_identity.hpp"
#include "engine/state/stored_evaluation.hpp"

namespace gpulog::detail {

/// The results of an earlier process (docs/adr/0077-stored-state.md): restores results, finds changed facts, and stores
/// the new results.
class stored_results {
 public:
  stored_results(run_context& run, fact_store& facts, evaluations& results, program_files& files)
      : run_(run), facts_(facts), results_(results), files_(files) {}

  /// Restores the results of a file, as after an evaluation. A later load() reads only changed fact files.
  /// @param only_outputs whether only relations of outputs are needed if no fact file has changed
  /// @throws unusable_state; the engine is then unchanged
  void restore(const std::filesystem::path& path, bool only_outputs);
  /// Hashes the fact files for save(). Call before load().
  void note_files() { inputs_ = input_versions_of(run_); }
  /// Replaces the facts that load() read by the differences from the stored facts.
  void stage_changes();
  /// Stores the results of the last evaluation. @throws output_error, input_error, memory_limit_error
  void save(const std::filesystem::path& path) const;
  /// Returns whether the restored file still describes the current results and fact files.
  [[nodiscard]] bool is_current() const { return before_ && !has_changed_files_ && results_.latest().empty(); }

  /// @throws output_error if write_changes() could not write some file
  void check_changes(const std::filesystem::path& folder) const;
  /// Writes the added and the removed tuples of each output, relative to the restored results.
  void write_changes(const std::filesystem::path& folder, io::output_files& files) const;
  void reset();

 private:
  /// Calls visit(relation, name in files, directive) for each relation with an .output.
  template <class Visit>
  void for_each_output(const Visit& visit) const;
  /// Returns the rows before the last evaluation; none without restored results.
  [[nodiscard]] row_view rows_before(std::uint32_t relation) const;
  void stage_changes_of(std::uint32_t relation);
  [[nodiscard]] std::vector<bool> stored_relations() const;

  run_context& run_;
  fact_store& facts_;
  evaluations& results_;
  program_files& files_;
  std::optional<std::vector<input_version>> inputs_;  ///< when the files were read; nothing: unknown
  std::vector<bool> changed_;  ///< by relation: whether its fact files differ from the stored facts; empty: compared
  bool has_changed_files_ = false;
  std::shared_ptr<stored_evaluation> before_;  ///< the restored results; nullptr: none
};

}  // namespace gpulog::detail
