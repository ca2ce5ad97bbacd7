#pragma once

#include <cstddef>
#include <nlohmann/json.hpp>
#include <string>

namespace gpulog::cli {

/// Columns of a table on a terminal.
inline constexpr std::size_t table_columns = 80;

[[nodiscard]] double number_in(const nlohmann::ordered_json& object, const char* key);
[[nodiscard]] std::string text_in(const nlohmann::ordered_json& object, const char* key);

/// Formats a number with at most six characters: 1.99M.
[[nodiscard]] std::string count_text(double number);
/// Formats a number of bytes with at most seven characters: 80.7kB.
[[nodiscard]] std::string bytes_text(double number);
/// Formats a percentage; "-" if the whole is 0.
[[nodiscard]] std::string share_text(double part, double whole);

/// Truncates the text to `most` characters, ending in "...".
[[nodiscard]] std::string shortened(const std::string& text, std::size_t most);
/// Truncates a path at its start, because the end of a path is more informative.
[[nodiscard]] std::string shortened_path(const std::string& path, std::size_t most);
/// Breaks the text at spaces into lines of at most table_columns characters, each indented.
[[nodiscard]] std::string indented_lines(const std::string& text, std::size_t indentation);

}  // namespace gpulog::cli
