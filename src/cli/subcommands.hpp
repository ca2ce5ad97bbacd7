#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace CLI {
class App;
}

namespace gpulog::cli {

/// A command that is named before its own options, as `gpulog profile`.
struct subcommand {
  std::string_view name;
  std::string_view operands;  ///< in the usage
  /// Gets the whole command line. Returns the exit status.
  int (*run)(int count, char** texts);
};

/// Returns null for an unknown name.
[[nodiscard]] const subcommand* find_subcommand(std::string_view name);

[[nodiscard]] std::vector<std::string> subcommand_names();

/// Returns a line of usage for each command, for the help.
[[nodiscard]] std::string subcommand_usages();

/// Parses the options after the command's name, or prints the help.
/// @param app named "gpulog" and the command's name
/// @return whether the command runs
/// @throws input_error
[[nodiscard]] bool parse_options(CLI::App& app, int count, char** texts);

}  // namespace gpulog::cli
