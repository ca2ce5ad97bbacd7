#pragma once

#include <string>
#include <vector>

#include "gpulog/engine.hpp"

/// Proofs of tuples and of missing tuples: --why, and -t explain with Soufflé's commands.
namespace gpulog::cli {

/// Validates the relations of the tuples before a long run.
/// @throws input_error if a tuple names an unknown relation
void require_relations(const program& source, const std::vector<std::string>& tuples);

/// Prints a proof of each tuple, or for a missing tuple the failing literals of each rule. A question with variables
/// has proofs of its first matches.
/// @return false if some texts are not tuples; a message was printed
[[nodiscard]] bool print_proofs(engine& run, const std::vector<std::string>& questions);

/// Reads commands from standard input until the end of the input or an exit command.
void run_explain_session(engine& run);

}  // namespace gpulog::cli
