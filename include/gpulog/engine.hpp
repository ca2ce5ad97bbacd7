#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "gpulog/answer.hpp"
#include "gpulog/diagnostic.hpp"
#include "gpulog/error.hpp"
#include "gpulog/export.hpp"
#include "gpulog/options.hpp"
#include "gpulog/program.hpp"
#include "gpulog/proof.hpp"
#include "gpulog/relation.hpp"
#include "gpulog/statistics.hpp"

namespace gpulog {

/// Runs a program on one backend and holds its relations. Not thread-safe.
class GPULOG_API engine {
 public:
  /// @throws input_error if the program has errors, the machine cannot satisfy an option, or two outputs share a file;
  ///   output_error if a report file cannot be written
  explicit engine(const program& source, run_options options = {});
  ~engine();
  engine(engine&&) noexcept;
  engine& operator=(engine&&) noexcept;
  engine(const engine&) = delete;
  engine& operator=(const engine&) = delete;

  /// Returns the relation with this name as declared ("r", or "c.r" in a component), or nothing if no such relation
  /// exists.
  [[nodiscard]] std::optional<gpulog::relation> find(std::string_view name);

  /// Returns the relation with this name.
  /// @throws input_error if no such relation exists
  [[nodiscard]] gpulog::relation relation(std::string_view name);

  /// Returns all declared relations, in the order of the text.
  [[nodiscard]] std::vector<gpulog::relation> relations();

  /// Reads the files of all .input directives, except for compile_options::filled_relations.
  /// @throws input_error
  void load();

  /// Evaluates the program to a fixpoint. After facts were inserted, loaded or erased, evaluates again: updates every
  /// relation that depends on the changed facts, with the same result as an evaluation from the start. After an
  /// evaluation_error, memory_limit_error or cancelled_error, the engine supports only reset().
  /// @throws input_error during an evaluation, or after a failed evaluation
  void evaluate();

  /// Reads a program for change_program().
  [[nodiscard]] program read(std::string text, const compile_options& options = {},
                             const std::string& name = "program.dl") const;

  /// Returns the tuples of a relation that the last evaluation added and removed. After restore(), the restored results
  /// are the results before the evaluation. Evaluations of query() do not count, unless facts have changed.
  /// Requires run_options::changes or on_change().
  /// @throws input_error if no such relation exists, and if the tuples before the evaluation are unknown;
  ///   memory_limit_error
  [[nodiscard]] changed_rows changes(std::string_view relation) const;

  /// Calls a function after each evaluation that changed the tuples of a relation, on the thread of evaluate(). The
  /// function may use the engine, and may change facts, but must not evaluate. An exception leaves evaluate(); the
  /// results remain valid. Replaces the relation's earlier function.
  /// @param function empty: ends the calls
  /// @throws input_error if no such relation exists
  void on_change(std::string_view relation, std::function<void(const changed_rows&)> function);

  /// Replaces the program by an extended program from read(): it starts with the same relations, and has additional
  /// facts, rules or relations, or different queries. Results of relations that the extension does not affect stay, and
  /// evaluate() computes the rest. load() reads the files of relations that were not needed before.
  /// @return false if the program is not an extension, or if a fact file that was read has changed: create a new engine
  /// @throws input_error during an evaluation, after a failed evaluation, for a program with errors, and for a program
  ///   read by a different engine
  [[nodiscard]] bool change_program(const program& next);

  /// Evaluates the program if necessary, and then a query: the body of a rule, such as `reach("a", x), x != "b"`.
  /// figures() then describes the query.
  /// @throws query_error for a query with errors, without any effect; otherwise like evaluate()
  [[nodiscard]] answer query(std::string body);

  /// Discards all facts and results, even after a failed evaluation: the engine is as it was after construction.
  /// @throws input_error during an evaluation
  void reset();

  /// Writes all .output and report files (all or nothing), and prints to standard output (.printsize, IO=stdout).
  /// @throws output_error
  void write();

  /// Stores the results of the last evaluation in a file, for restore() in another process.
  /// @throws output_error; input_error before an evaluation, and after facts have changed since
  void save(const std::string& path);

  /// Restores results stored by an engine with the same program and options: the engine is as after the evaluation, and
  /// facts can be inserted and erased. load() then reads the fact files whose content has changed, and replaces the
  /// facts of their relations. Call before anything else changes facts.
  /// @throws input_error for a file that cannot be used, which leaves the engine unchanged
  void restore(const std::string& path);

  /// Explains why a tuple exists, as a proof tree of minimal height; returns nothing if the tuple does not exist.
  /// Requires run_options::proofs and a completed evaluation. The first calls build indexes of the relations that they
  /// read.
  /// @param tuple as in a program: `reach(1, "b")`
  /// @param depth maximum levels of tuples in the tree, at least 2; deeper tuples are cut
  /// @throws input_error, memory_limit_error, cancelled_error
  [[nodiscard]] std::optional<proof> why(std::string_view tuple, std::size_t depth = 4);

  /// Explains for each rule which literals of the body hold for a tuple that does not exist.
  /// @param given values of variables that the tuple does not bind
  /// @throws like why()
  [[nodiscard]] std::vector<failed_rule> why_not(std::string_view tuple, const variable_values& given = {});

  /// Returns values for the variables of a question such as `edge(1, x), path(x, y)`. A word without quotes is a
  /// variable, and `_` matches any value.
  /// @param most maximum number of matches, at least 1
  /// @throws like why()
  [[nodiscard]] tuple_matches matches(std::string_view question, std::size_t most);

  /// Returns the rules of a relation, in the order used by proofs.
  /// @throws input_error if no such relation exists
  [[nodiscard]] std::vector<std::string> rules(std::string_view relation) const;

  /// Calls load(), evaluate() and write(). Throws output_error before load() for an output that can't be written. With
  /// run_options::state_file, restores the file first if possible, and stores the results last.
  const statistics& run();

  /// Returns warnings about the run: one for each rule in which a count or sum needed more bits than a word has and
  /// wrapped around, and one for a state file that was not used or not stored.
  [[nodiscard]] std::vector<diagnostic> warnings() const;

  /// Returns whether this process uses a device or is starting a device, which the destructor waits for. A process that
  /// ends after the run may skip the destructor.
  [[nodiscard]] bool uses_device() const;

  /// Returns the figures up to now.
  [[nodiscard]] const statistics& figures() const;

  /// Returns what the run is doing. Requires run_options::is_watched. Thread-safe. Returns nothing if the engine does
  /// not answer within `patience` seconds.
  [[nodiscard]] std::optional<run_step> now(double patience = 0.05) const;

 private:
  [[nodiscard]] program read_query(std::string body) const;
  [[nodiscard]] changed_rows changes_of(std::uint32_t number) const;

  std::shared_ptr<detail::engine_state> state_;  ///< shared with Arrow arrays of the relations
};

/// Removes unfinished output files of all runs of this process; for a process that ends without unwinding. Thread-safe.
GPULOG_API void remove_unfinished_outputs() noexcept;

/// Writes the report files of all runs of this process in their current state; for a process that ends without
/// unwinding. Thread-safe.
/// @param why the reason, for the reports
/// @return what the process was doing, or an empty text
GPULOG_API std::string write_unfinished_reports(const std::string& why) noexcept;

}  // namespace gpulog
