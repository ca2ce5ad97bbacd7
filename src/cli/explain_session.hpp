#pragma once

#include <string>
#include <vector>

#include "gpulog/engine.hpp"

/// Why tuples are there, and why not: --why, and -t explain with Soufflé's commands.
namespace gpulog::cli {

/// Before a run that may take long. @throws input_error where a tuple is of no relation of the program
void require_relations(const program& source, const std::vector<std::string>& tuples);

/// Prints a proof of each tuple, or what fails of each rule for one that is not there. @return false: some of them are
/// no tuples, which was said
[[nodiscard]] bool print_proofs(engine& run, const std::vector<std::string>& tuples);

/// Reads commands from standard input until it ends or one of them says so.
void run_explain_session(engine& run);

}  // namespace gpulog::cli
