#pragma once

namespace gpulog::cli {

/// Shows the record of a run, or compares two records.
/// @return the exit status
/// @throws error
[[nodiscard]] int show_profile(int count, char** texts);

}  // namespace gpulog::cli
