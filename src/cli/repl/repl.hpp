#pragma once

#include "cli/arguments.hpp"

namespace gpulog::cli {

/// Returns whether standard input and output are terminals.
[[nodiscard]] bool is_interactive();

/// Reads a program and queries from the terminal, and answers the queries.
/// @return the exit status
[[nodiscard]] int run_repl(arguments given);

}  // namespace gpulog::cli
