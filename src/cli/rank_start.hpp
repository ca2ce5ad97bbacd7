#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <string>
#include <vector>

#include "ranks/rank_group.hpp"

/// Runs with several ranks: the option --ranks, and the start of a process as a rank.
namespace gpulog::cli {

void add_rank_option(CLI::App& app, const std::string& group, unsigned& ranks);

/// Calls `run` and returns its status. If mpirun started several processes, only rank 0 calls `run`; followers serve
/// rank 0 and return 0.
/// @param arguments of the command, without its name
[[nodiscard]] int on_rank_0(const std::vector<std::string>& arguments, const std::function<int()>& run);

/// Replaces this process by mpirun if mpirun did not start this process and `ranks` exceeds 1.
/// @param ranks value of --ranks; 0: not given
/// @throws input_error if mpirun cannot start the ranks, or has started a different number of ranks
void start_ranks(unsigned ranks, const std::vector<std::string>& arguments);

/// Returns the ranks, if this process is rank 0 of several; else nullptr.
[[nodiscard]] ranks::rank_group* running_ranks();

/// Returns a message about a rank that was lost during the run, or an empty text.
[[nodiscard]] std::string lost_rank();

}  // namespace gpulog::cli
