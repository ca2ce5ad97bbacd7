#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "gpulog/diagnostic.hpp"
#include "gpulog/export.hpp"
#include "gpulog/options.hpp"
#include "gpulog/relation.hpp"

namespace gpulog {

namespace detail {
struct program_state;
}

/// A source file of a program.
struct source_text {
  std::string path;      ///< as resolved
  std::string identity;  ///< equal for all paths to the same file
  std::string text;      ///< empty if the text was not needed
};

/// A fact of the text.
struct program_fact {
  std::string text;       ///< equal for equal facts
  std::string path;       ///< source file; the name given to from_text() for the main text
  std::size_t begin = 0;  ///< first byte in the file
  std::size_t end = 0;    ///< byte after the fact, which a dot follows if the fact is a whole clause
};

/// A declared relation.
struct relation_declaration {
  std::string name;  ///< "r", or "c.r" in a component
  std::vector<attribute> attributes;
  bool is_input = false;   ///< has an .input directive
  bool is_output = false;  ///< has an .output directive
};

/// A program that was read, checked and planned. Cheap to copy: copies share one immutable state.
class GPULOG_API program {
 public:
  /// Reads a program from a file.
  /// @throws input_error if the file cannot be read, or for an invalid word size or an unknown filled relation; the
  ///   functions below throw the same
  [[nodiscard]] static program from_file(const std::string& path, const compile_options& options = {});

  /// Reads a program from text; `name` is the file name in diagnostics.
  [[nodiscard]] static program from_text(std::string text, const compile_options& options = {},
                                         const std::string& name = "program.dl");

  /// Reads a program from the result of sources(), independent of the current files.
  /// @throws input_error if `sources` is empty
  [[nodiscard]] static program from_sources(const std::vector<source_text>& sources,
                                            const compile_options& options = {});

  /// Returns the source files, the main file first, each file once. Call in the same working directory as the
  /// constructor function.
  [[nodiscard]] std::vector<source_text> sources() const;

  /// Returns whether the program can run: no diagnostic is an error.
  [[nodiscard]] bool ok() const;

  /// Returns errors and warnings, ordered by place.
  [[nodiscard]] const std::vector<diagnostic>& diagnostics() const;

  /// Returns all diagnostics as text, followed by "N errors generated, evaluation aborted" if there are errors.
  [[nodiscard]] const std::string& report() const;

  /// Returns whether the first error is at the end of the text or of a query, so that more text could fix it.
  [[nodiscard]] bool is_cut_off() const;

  /// Returns the number of errors found before the checks of types and rules.
  [[nodiscard]] std::size_t syntax_error_count() const;

  /// Returns all declared relations, in the order of the text, without queries; empty for a program with errors.
  [[nodiscard]] std::vector<relation_declaration> relations() const;

  /// Returns the facts of the text; empty for a program with errors. First the facts of constants, then the facts with
  /// records, branches or functors.
  [[nodiscard]] std::vector<program_fact> facts() const;

  /// Return the relations with an .input directive, or with an .output directive.
  [[nodiscard]] std::vector<relation_declaration> inputs() const;
  [[nodiscard]] std::vector<relation_declaration> outputs() const;

  /// Returns the relations of compile_options::queries, in the same order. Each has a column per variable of the query
  /// outside of aggregates, except variables that start with an underscore. A query without variables gives one row if
  /// it holds.
  [[nodiscard]] std::vector<relation_declaration> queries() const;

  /// Returns record types and algebraic data types, in the order of the text.
  [[nodiscard]] std::vector<structured_type> types() const;

  /// Returns the bits of numbers, unsigned numbers and floats: 32 or 64.
  [[nodiscard]] unsigned word_size() const;

  /// Returns the stage names for show().
  [[nodiscard]] static const std::vector<std::string>& stages();

  /// Returns the stages that the pragma `show` of the options, or else of the text, names.
  [[nodiscard]] const std::vector<std::string>& shown_stages() const;

  /// Returns a stage between text and plan as readable text; for a program with errors, only the stages reached (the
  /// rest is empty).
  /// @param options the plan depends on some of these
  /// @throws input_error for a name that is not in stages()
  [[nodiscard]] std::string show(std::string_view stage, const run_options& options = {}) const;

  /// For internal use.
  [[nodiscard]] const std::shared_ptr<const detail::program_state>& state() const { return state_; }

 private:
  friend class engine;
  explicit program(std::shared_ptr<const detail::program_state> state) : state_(std::move(state)) {}
  std::shared_ptr<const detail::program_state> state_;
};

}  // namespace gpulog
