#pragma once

namespace gpulog::cli {

/// Warns about programs: `gpulog lint ...`.
/// @return the exit status: 1 if a program has errors or warnings
/// @throws error
[[nodiscard]] int lint_programs(int count, char** texts);

}  // namespace gpulog::cli
