#pragma once

namespace gpulog::cli {

/// Returns whether the command line is `gpulog profile ...`.
[[nodiscard]] bool is_profile_command(int count, char** texts);

/// Shows the record of a run, or compares two records.
/// @return the exit status
/// @throws error
[[nodiscard]] int show_profile(int count, char** texts);

}  // namespace gpulog::cli
