#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "gpulog/engine.hpp"
#include "gpulog/program.hpp"

namespace gpulog::cli {

/// Result of an entry.
enum class outcome : std::uint8_t {
  accepted,
  unfinished,  ///< more lines must follow
  refused,     ///< errors were printed
};

/// A program that is entered piece by piece. A piece with errors is rejected.
class entered_program {
 public:
  explicit entered_program(compile_options options);

  /// Adds rules, facts, declarations and directives; adds none of them if one has an error. A directive may end in a
  /// dot. Prints new errors and warnings.
  [[nodiscard]] outcome add(const std::string& text);
  /// Adds a file, which is read again for every new version of the program.
  void load(const std::string& path);
  /// Removes entered facts.
  /// @throws input_error, which leaves the program unchanged, for a fact that was not entered and for other clauses
  void retract(const std::string& facts);
  /// Returns whether the text is a valid query.
  [[nodiscard]] bool is_query(const std::string& text) const;
  /// Returns whether add() would accept the text, perhaps with more lines.
  [[nodiscard]] bool accepts(const std::string& text) const;
  /// Sets the number of rows that queries print; nothing: all.
  void limit_rows(std::optional<std::uint64_t> rows);

  /// Compiles the program with a query and without other outputs.
  /// @param running the engine that may continue with the program, if any
  /// @param made set if the query is accepted
  [[nodiscard]] outcome ask(const std::string& query, const engine* running, std::optional<program>& made);
  /// Returns the program without queries and without outputs.
  /// @param running like for ask()
  [[nodiscard]] program without_queries(const engine* running = nullptr) const;

  /// Prints errors, and warnings that were not printed before.
  void print_new_remarks(const std::vector<diagnostic>& all);

  /// Returns the entered text and the text of loaded files.
  [[nodiscard]] std::string listing() const;
  /// Returns the entered text as a program that includes the loaded files.
  [[nodiscard]] std::string source() const;
  /// Returns the names of the declared relations.
  [[nodiscard]] const std::vector<std::string>& names() const { return names_; }

 private:
  /// A text that was entered, or a loaded file.
  struct piece {
    std::string heading;  ///< the source location of the text; for a file, its #include
    std::string text;
    std::string path;  ///< of a file, as given
    [[nodiscard]] std::string whole() const { return heading + text + "\n"; }
  };
  /// A clause in the pieces.
  struct range {
    std::size_t piece, begin, end;
  };
  [[nodiscard]] std::optional<range> clause_at(const program_fact& fact) const;
  void blank(const std::vector<range>& clauses);
  [[nodiscard]] piece entry(const std::string& text) const;
  [[nodiscard]] program compiled(const std::string& more, const compile_options& options,
                                 const engine* running = nullptr) const;
  /// Prints the errors and warnings of the program.
  [[nodiscard]] outcome judged(const program& source);
  [[nodiscard]] outcome take(piece added);
  void note_names(const program& source);

  compile_options options_;
  std::vector<piece> pieces_;
  std::set<std::string> printed_;   ///< warnings
  std::vector<std::string> names_;  ///< of the declared relations
};

}  // namespace gpulog::cli
