#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "gpulog/error.hpp"
#include "gpulog/export.hpp"
#include "gpulog/options.hpp"
#include "gpulog/program.hpp"
#include "gpulog/proof.hpp"
#include "gpulog/relation.hpp"
#include "gpulog/statistics.hpp"

namespace gpulog {

/// A program that runs: its relations, on one backend. Not for use by several threads at a time.
class GPULOG_API engine {
 public:
  /// @throws input_error when the program is rejected, an option cannot be met on this machine, or two outputs have one
  /// file; output_error when a report file cannot be written.
  explicit engine(const program& source, run_options options = {});
  ~engine();
  engine(engine&&) noexcept;
  engine& operator=(engine&&) noexcept;
  engine(const engine&) = delete;
  engine& operator=(const engine&) = delete;

  /// The relation of that name as the text declares it ("r", or "c.r" of a component); nothing where there is none.
  [[nodiscard]] std::optional<gpulog::relation> find(std::string_view name);

  /// As find. @throws input_error where there is none.
  [[nodiscard]] gpulog::relation relation(std::string_view name);

  /// All declared relations, in the order of the text.
  [[nodiscard]] std::vector<gpulog::relation> relations();

  /// Reads the files of all .input directives, but for compile_options::filled_relations. @throws input_error
  void load();

  /// Evaluates the program to fixpoint. Again, after facts were inserted, loaded or erased: what depends on them is
  /// brought up to date, as if all had been evaluated from the start, and nothing else is touched. Where it throws
  /// evaluation_error, memory_limit_error or cancelled_error, the engine can only be reset. @throws input_error while
  /// it evaluates, or after that has failed
  void evaluate();

  /// A program that may take the place of this engine's: change_program.
  [[nodiscard]] program read(std::string text, const compile_options& options = {},
                             const std::string& name = "program.dl") const;

  /// Goes on with a program that read() has made and that goes further than the one before: the same relations in
  /// front, with more facts, rules, relations or other queries. What is there of relations that this does not reach
  /// stays, and evaluate() computes the others. load() reads the files of relations that were not needed before.
  /// @return false for any other program, and where a file of facts that was read has changed: make another engine.
  /// @throws input_error while it evaluates, after that has failed, and for a program with errors or that another
  /// engine has read
  [[nodiscard]] bool change_program(const program& next);

  /// Forgets all facts and results, whatever has happened: the engine is as it was made. @throws input_error while it
  /// evaluates
  void reset();

  /// Writes all .output and report files, or none of them, and what goes to standard output (.printsize, IO=stdout).
  /// @throws output_error
  void write();

  /// Why a tuple is there, as a tree of least height; nothing where it is not. Of a run with run_options::proofs, after
  /// its evaluation. The first questions make indexes of the relations that they read. @param tuple as in a program:
  /// `reach(1, "b")` @param depth levels of tuples that are shown, at least 2; deeper ones are cut
  /// @throws input_error, memory_limit_error, cancelled_error
  [[nodiscard]] std::optional<proof> why(std::string_view tuple, std::size_t depth = 4);

  /// What of each rule's body holds for a tuple that is not there. @param given values of variables that the tuple does
  /// not bind @throws as why()
  [[nodiscard]] std::vector<failed_rule> why_not(std::string_view tuple, const variable_values& given = {});

  /// Tuples that hold together: values for the variables of a question such as `edge(1, x), path(x, y)`. A word without
  /// quotes is a variable, and `_` any value. @param most matches that are wanted, at least 1 @throws as why()
  [[nodiscard]] tuple_matches matches(std::string_view question, std::size_t most);

  /// The rules of a relation, as proofs number them. @throws input_error where there is no such relation
  [[nodiscard]] std::vector<std::string> rules(std::string_view relation) const;

  /// load, evaluate, write.
  const statistics& run();

  /// Whether this process has anything of a device, or is starting one, which the destructor waits for: a process
  /// that ends with the run can end without it.
  [[nodiscard]] bool uses_device() const;

  /// What was done up to now.
  [[nodiscard]] const statistics& figures() const;

  /// What is being done: of a run with run_options::is_watched, and from any thread. Nothing where it does not become
  /// known within so many seconds.
  [[nodiscard]] std::optional<run_step> now(double patience = 0.05) const;

 private:
  std::shared_ptr<detail::engine_state> state_;  ///< shared with Arrow arrays of its relations
};

/// Removes output files that runs of this process have begun and not completed; for a process that is about to end
/// without unwinding. Safe from any thread.
GPULOG_API void remove_unfinished_outputs() noexcept;

/// Writes the report files of all runs of this process as far as they have come; for a process that is about to end
/// without unwinding. Safe from any thread. @param why for the reports @return what was being done; empty: nothing
GPULOG_API std::string write_unfinished_reports(const std::string& why) noexcept;

}  // namespace gpulog
