#pragma once

namespace gpulog::cli {

/// Formats programs: `gpulog fmt ...`.
/// @return the exit status: 1 for a program with syntax errors, and for --check and --diff if a program would change
/// @throws error
[[nodiscard]] int format_programs(int count, char** texts);

}  // namespace gpulog::cli
