#pragma once

#include <string>
#include <vector>

#include "gpulog/engine.hpp"

/// Why tuples are there, and why not: --why, and -t explain with Soufflé's commands.
namespace gpulog::cli {

/// Prints a proof of each tuple, or what fails of each rule for one that is not there.
void print_proofs(engine& run, const std::vector<std::string>& tuples);

/// Reads commands from standard input until it ends or one of them says so.
void run_explain_session(engine& run);

}  // namespace gpulog::cli
