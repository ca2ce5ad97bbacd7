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

  /// Compiles the program with a query and without other outputs.
  /// @param running the engine that may continue with the program, if any
  /// @param made set if the query is accepted
  [[nodiscard]] outcome ask(const std::string& query, const engine* running, std::optional<program>& made);
  /// Returns the program without queries and without outputs.
  [[nodiscard]] program without_queries() const;

  /// Prints errors, and warnings that were not printed before.
  void print_new_remarks(const std::vector<diagnostic>& all);

  /// Returns the entered text.
  [[nodiscard]] std::string listing() const;

 private:
  struct piece {
    std::string shown;
    std::string text;  ///< includes the source location
  };
  [[nodiscard]] piece entry(const std::string& text) const;
  [[nodiscard]] program compiled(const std::string& more, const compile_options& options,
                                 const engine* running = nullptr) const;
  /// Prints the errors and warnings of the program.
  [[nodiscard]] outcome judged(const program& source);
  [[nodiscard]] outcome take(piece added);

  compile_options options_;
  std::vector<piece> pieces_;
  std::set<std::string> printed_;  ///< warnings
};

}  // namespace gpulog::cli
