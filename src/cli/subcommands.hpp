#pragma once

#include <string>
#include <string_view>
#include <vector>

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

}  // namespace gpulog::cli
