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

/// One of the files that a program was read from.
struct source_text {
  std::string path;      ///< as it was found
  std::string identity;  ///< the same for all paths of a file
  std::string text;      ///< empty where it was not needed
};

/// A relation as the text declares it.
struct relation_declaration {
  std::string name;  ///< "r", or "c.r" of a component
  std::vector<attribute> attributes;
  bool is_input = false;   ///< there is an .input directive
  bool is_output = false;  ///< there is an .output directive
};

/// A program that was read, checked and planned. Cheap to copy: copies share one immutable state.
class GPULOG_API program {
 public:
  /// Reads a program from a file. @throws input_error when it cannot be read, or for a word size or a filled relation
  /// that does not exist, as those that follow do.
  [[nodiscard]] static program from_file(const std::string& path, const compile_options& options = {});

  /// Reads a program from text; `name` is the file that diagnostics name.
  [[nodiscard]] static program from_text(std::string text, const compile_options& options = {},
                                         const std::string& name = "program.dl");

  /// Reads a program from what sources() of another one gave, whatever the disk has now. @throws input_error when there
  /// are none.
  [[nodiscard]] static program from_sources(const std::vector<source_text>& sources,
                                            const compile_options& options = {});

  /// The files that it was read from, its own first and each once. To be asked in the working directory that it was
  /// read in.
  [[nodiscard]] std::vector<source_text> sources() const;

  /// Whether it can run: there is no diagnostic of severity error.
  [[nodiscard]] bool ok() const;

  /// Errors and warnings, ordered by place.
  [[nodiscard]] const std::vector<diagnostic>& diagnostics() const;

  /// All diagnostics as text, closed by "N errors generated, evaluation aborted" when there are errors.
  [[nodiscard]] const std::string& report() const;

  /// Whether the first error is that the text ends, or that of a query: more of it could mend that.
  [[nodiscard]] bool is_cut_off() const;

  /// How many errors were found before types and rules were looked at.
  [[nodiscard]] std::size_t syntax_error_count() const;

  /// All declared relations, in the order of the text; none of a rejected program. None is a query's.
  [[nodiscard]] std::vector<relation_declaration> relations() const;

  /// Those with an .input directive, and those with an .output directive.
  [[nodiscard]] std::vector<relation_declaration> inputs() const;
  [[nodiscard]] std::vector<relation_declaration> outputs() const;

  /// The relation of each of compile_options::queries, in their order. It has a column for each variable of the query
  /// outside of aggregates whose name does not begin with an underscore; without such a variable, it has a row where
  /// the query holds.
  [[nodiscard]] std::vector<relation_declaration> queries() const;

  /// Record types and algebraic data types, in the order of the text.
  [[nodiscard]] std::vector<structured_type> types() const;

  /// Bits of its numbers, unsigned numbers and floats: 32 or 64.
  [[nodiscard]] unsigned word_size() const;

  /// Names that show() knows.
  [[nodiscard]] static const std::vector<std::string>& stages();

  /// The stages that the pragma `show` names, of the options or else of the text.
  [[nodiscard]] const std::vector<std::string>& shown_stages() const;

  /// A stage of the way from text to plan as readable text; of a rejected program, the stages that were reached (empty
  /// for others). Of `options`, what a plan depends on. @throws input_error for a name that stages() does not list.
  [[nodiscard]] std::string show(std::string_view stage, const run_options& options = {}) const;

  /// For the library itself.
  [[nodiscard]] const std::shared_ptr<const detail::program_state>& state() const { return state_; }

 private:
  friend class engine;
  explicit program(std::shared_ptr<const detail::program_state> state) : state_(std::move(state)) {}
  std::shared_ptr<const detail::program_state> state_;
};

}  // namespace gpulog
