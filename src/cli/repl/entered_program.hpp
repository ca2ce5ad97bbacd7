#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "gpulog/engine.hpp"
#include "gpulog/program.hpp"

namespace gpulog::cli {

/// What came of a text that was entered.
enum class outcome : std::uint8_t {
  accepted,
  unfinished,  ///< it ends where more has to come
  refused,     ///< it is wrong; errors were printed
};

/// A program that is entered piece by piece. What has errors is not taken.
class entered_program {
 public:
  explicit entered_program(compile_options options);

  /// Adds rules, facts, declarations and directives, or nothing where one of them is wrong. A directive may end in a
  /// dot. Prints what is new of errors and warnings.
  [[nodiscard]] outcome add(const std::string& text);
  /// Adds a file, which is read anew whenever the program is.
  void load(const std::string& path);

  /// The program with a query: nothing else of it is needed. @param running the engine that it may go on in, if any
  /// @param made is set where the query is accepted
  [[nodiscard]] outcome ask(const std::string& query, const engine* running, std::optional<program>& made);
  /// The program without queries, of which nothing is written.
  [[nodiscard]] program without_queries() const;

  /// As it was entered.
  [[nodiscard]] std::string listing() const;

 private:
  struct piece {
    std::string shown;
    std::string text;  ///< says where it is from
  };
  [[nodiscard]] piece entry(const std::string& text) const;
  [[nodiscard]] program compiled(const std::string& more, const compile_options& options,
                                 const engine* running = nullptr) const;
  /// Prints what is to be said of it.
  [[nodiscard]] outcome judged(const program& source);
  [[nodiscard]] outcome take(piece added);
  /// Errors, and warnings that were not printed before.
  void print_new_remarks(const program& source);

  compile_options options_;
  std::vector<piece> pieces_;
  std::set<std::string> printed_;  ///< warnings
};

}  // namespace gpulog::cli
