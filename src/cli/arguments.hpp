#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/program_image.hpp"
#include "gpulog/options.hpp"

namespace gpulog::cli {

/// The program's file where the program is standard input.
inline constexpr std::string_view standard_input_name = "-";

/// What the command line asks for.
struct arguments {
  std::string program_file;  ///< or standard_input_name; empty: it is entered
  compile_options compile;
  run_options run;
  std::vector<std::string> show;  ///< stages to print instead of running
  std::string executable_file;    ///< to make instead of running; empty: none
  std::string profile_file;
  std::string statistics_file;
  double profile_every = 0;      ///< seconds; 0: not before the end
  bool explain = false;          ///< the plan with what happened, behind the run
  std::vector<std::string> why;  ///< tuples to explain behind the run
  bool explain_session = false;  ///< questions about tuples behind the run, from standard input
  bool verbose = false;
};

/// What came of the command line: arguments to act on, or an exit status when there is nothing more to do (help,
/// version, an error that was printed).
struct parse_result {
  std::optional<arguments> parsed;
  int exit_status = 0;
};

/// Reads Soufflé's options and gpulog's own. Prints help and version on standard output, errors as one line on standard
/// error.
/// @param image of an executable that `-o` made: those it was made with count, too, unless they are given anew
[[nodiscard]] parse_result parse_arguments(int count, char** texts, const std::optional<program_image>& image);

}  // namespace gpulog::cli
