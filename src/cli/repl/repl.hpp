#pragma once

#include "cli/arguments.hpp"

namespace gpulog::cli {

/// Whether somebody types what the command reads, and sees what it prints.
[[nodiscard]] bool is_interactive();

/// Reads a program and queries from the terminal, and answers them. @return the exit status
[[nodiscard]] int run_repl(arguments given);

}  // namespace gpulog::cli
