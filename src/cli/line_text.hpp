#pragma once

#include <string>
#include <string_view>

namespace gpulog::cli {

inline constexpr std::string_view blanks = " \t\r\n";

/// Returns the text without leading and trailing blanks.
[[nodiscard]] std::string trimmed(std::string_view text);

/// Replaces each control character with a space, so that texts of a program cannot break a line of output.
[[nodiscard]] std::string in_one_line(std::string text);

}  // namespace gpulog::cli
