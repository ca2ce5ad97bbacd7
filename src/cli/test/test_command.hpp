#pragma once

namespace gpulog::cli {

/// Tests programs: `gpulog test ...`.
/// @return the exit status: 1 if a test failed
/// @throws error
[[nodiscard]] int test_programs(int count, char** texts);

}  // namespace gpulog::cli
