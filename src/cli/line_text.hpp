#pragma once

#include <string>
#include <string_view>

namespace gpulog::cli {

inline constexpr std::string_view blanks = " \t\r\n";

/// Without blanks around it.
[[nodiscard]] std::string trimmed(std::string_view text);

/// With a space for each control character: what a program's text holds cannot break a line of output.
[[nodiscard]] std::string in_one_line(std::string text);

}  // namespace gpulog::cli
