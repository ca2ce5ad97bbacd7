#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "gpulog/engine.hpp"

/// Proofs of tuples and of missing tuples: --why, and -t explain with Soufflé's commands.
namespace gpulog::cli {

/// Validates the relations of the tuples before a long run.
/// @throws input_error if a tuple names an unknown relation
void require_relations(const program& source, const std::vector<std::string>& tuples);

/// The answer to a question of --why.
struct why_answer {
  bool holds = false;
  bool is_all = true;  ///< false: more matches than the first ones hold
  std::string text;    ///< proofs of the first matches, or the failing literals of each rule; may be empty
};

/// @param columns a wider proof is an indented list
/// @throws input_error for a question that is not a list of atoms
[[nodiscard]] why_answer answer_why(engine& run, const std::string& question, std::size_t columns);

/// Prints a proof of each tuple, or for a missing tuple the failing literals of each rule. A question with variables
/// has proofs of its first matches.
/// @return false if some texts are not tuples; a message was printed
[[nodiscard]] bool print_proofs(engine& run, const std::vector<std::string>& questions);

/// Reads commands from standard input until the end of the input or an exit command.
void run_explain_session(engine& run);

}  // namespace gpulog::cli
