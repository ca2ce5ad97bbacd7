#pragma once

#include <string>

namespace gpulog::cli {

/// Breaks the lines of a help text, as CLI11 prints it, at spaces into lines of at most 100 columns.
[[nodiscard]] std::string wrapped_help(const std::string& help);

}  // namespace gpulog::cli
