#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/arguments.hpp"
#include "cli/repl/entered_program.hpp"
#include "gpulog/engine.hpp"
#include "gpulog/program.hpp"
#include "gpulog/statistics.hpp"

namespace gpulog::cli {

/// A program that is entered piece by piece, and what is asked of it. It knows nothing of the terminal.
class session {
 public:
  explicit session(arguments given);

  enum class reply : std::uint8_t {
    done,
    more,  ///< the entry has no end yet: it is to be given again with its next line
    leave,
  };
  /// Does what an entry of one or more lines asks for: a piece of program, a query or a command. Prints results on
  /// standard output, all that is wrong on standard error.
  [[nodiscard]] reply take(const std::string& entry);

 private:
  struct command {
    std::string_view name, argument, description;
    reply (session::*act)(const std::string& argument);
  };
  static const std::vector<command>& commands();

  [[nodiscard]] reply acted(const std::string& entry);
  [[nodiscard]] reply ask(const std::string& query);
  /// Goes on in the engine of the last query, or in another one where that can't be.
  void go_on(const program& source);
  void run(engine& running);

  reply load(const std::string& path);
  reply list(const std::string& argument);
  reply explain(const std::string& argument);
  reply profile(const std::string& argument);
  reply help(const std::string& argument);
  reply quit(const std::string& argument);

  arguments given_;
  entered_program program_;
  std::optional<engine> running_;   ///< of the last query, with what was computed up to now
  std::optional<statistics> last_;  ///< of the last run
};

}  // namespace gpulog::cli
