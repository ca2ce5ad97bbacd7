#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/arguments.hpp"
#include "cli/progress_line.hpp"
#include "cli/repl/entered_program.hpp"
#include "gpulog/engine.hpp"
#include "gpulog/program.hpp"
#include "gpulog/statistics.hpp"

namespace gpulog::cli {

/// A program entered piece by piece, with its queries. Independent of the terminal.
class session {
 public:
  explicit session(arguments given);

  enum class reply : std::uint8_t {
    done,
    more,  ///< the entry is incomplete: call again with the entry and the next line
    leave,
  };
  /// Executes an entry of one or more lines: a piece of program, a query or a command. Prints results on standard
  /// output and errors on standard error.
  [[nodiscard]] reply take(const std::string& entry);
  /// Returns the words that may follow the text in its line: relations, and first in the line also commands and
  /// directives.
  [[nodiscard]] std::vector<std::string> candidates_after(std::string_view text) const;

 private:
  struct command {
    std::string_view name, argument, description;
    reply (session::*act)(const std::string& argument);
  };
  static const std::vector<command>& commands();

  [[nodiscard]] reply acted(const std::string& entry);
  /// Adds the entry to the program, or asks an entry that is a query and has an empty last line.
  [[nodiscard]] reply add(const std::string& entry);
  [[nodiscard]] reply ask(const std::string& query);
  /// Continues with the engine of the last query if possible, otherwise starts a new engine.
  void go_on(const program& source);
  /// @param figures receives the statistics, even if the run fails
  void run(engine& running, std::optional<statistics>& figures);

  // session_commands.cpp
  reply load(const std::string& path);
  reply list(const std::string& argument);
  reply save(const std::string& path);
  reply relations(const std::string& argument);
  reply retract(const std::string& facts);
  reply why(const std::string& question);
  reply limit_rows(const std::string& number);
  reply set_timer(const std::string& value);
  reply explain(const std::string& argument);
  reply profile(const std::string& argument);
  reply help(const std::string& argument);
  reply quit(const std::string& argument);

  arguments given_;
  entered_program program_;
  std::optional<engine> running_;   ///< engine of the last query, with all results so far
  std::string computed_program_;    ///< text of the program at the last query
  std::optional<statistics> last_;  ///< statistics of the last run
  std::optional<engine> proving_;   ///< engine of the last .why, with all results
  std::optional<progress_line> line_;
  std::optional<std::uint64_t> most_rows_ = 100;  ///< that a query prints
  bool is_timed_ = false;
};

}  // namespace gpulog::cli
