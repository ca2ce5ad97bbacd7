#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/program_image.hpp"
#include "gpulog/options.hpp"

namespace gpulog::cli {

/// The name of the program's file if the program is read from standard input.
inline constexpr std::string_view standard_input_name = "-";

/// The parsed command line.
struct arguments {
  std::string program_file;  ///< or standard_input_name; empty: interactive
  compile_options compile;
  run_options run;
  std::vector<std::string> show;  ///< stages to print instead of running
  std::string executable_file;    ///< executable to build instead of running; empty: none
  std::string profile_file;
  std::string statistics_file;
  double profile_every = 0;      ///< seconds; 0: only at the end
  bool explain = false;          ///< print the plan with actual counts after the run
  std::vector<std::string> why;  ///< tuples to explain after the run
  bool explain_session = false;  ///< read questions about tuples from standard input after the run
  bool verbose = false;
  unsigned ranks = 0;  ///< processes that run the program together; 0: not given
};

/// Prints a warning for each name that is not a warning.
/// @param option for the message
void warn_of_unknown_warnings(std::string_view option, const std::vector<std::string>& names);

/// The parsed command line, or an exit status if the command ends here (help, version, a printed error).
struct parse_result {
  std::optional<arguments> parsed;
  int exit_status = 0;
};

/// Parses the options of Soufflé and of gpulog. Prints help and version on standard output, errors as one line on
/// standard error.
/// @param image the image of an executable that `-o` built; its stored options apply unless the command line overrides
///   them
[[nodiscard]] parse_result parse_arguments(int count, char** texts, const std::optional<program_image>& image);

}  // namespace gpulog::cli
