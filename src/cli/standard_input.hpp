#pragma once

#include <string>

namespace gpulog::cli {

/// Reads a program from standard input up to the end. @throws input_error
[[nodiscard]] std::string standard_input();

}  // namespace gpulog::cli
