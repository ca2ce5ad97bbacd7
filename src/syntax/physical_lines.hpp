#pragma once

#include <cstddef>
#include <string_view>

/// Lines and comments of a text as a C preprocessor reads them.
namespace gpulog::syntax {

[[nodiscard]] constexpr bool is_line_space(char c) {
  return c == ' ' || c == '\t' || c == '\r' || c == '\v' || c == '\f';
}

/// Returns the length of a backslash with a line end at `at`, or 0.
[[nodiscard]] std::size_t line_splice(std::string_view text, std::size_t at);

/// Returns the position of the next line splice, or npos.
[[nodiscard]] std::size_t find_line_splice(std::string_view text, std::size_t at = 0);

/// Returns the end of a comment at `at`, or `at` if no comment starts here. A line comment ends before its line end,
/// unless a backslash precedes the line end.
[[nodiscard]] std::size_t end_of_comment(std::string_view text, std::size_t at);

/// The end of a string or character constant that begins at `at` and ends on its line; else the next byte.
[[nodiscard]] std::size_t end_of_constant(std::string_view text, std::size_t at);

/// Skips white space of a line. A comment is white space, the line ends inside it included.
[[nodiscard]] std::size_t skip_line_space(std::string_view text, std::size_t at);

/// Returns the end of the directive with its `#` at `at`: the line end after continuations and comments, or the end of
/// the text.
[[nodiscard]] std::size_t end_of_directive(std::string_view text, std::size_t at);

}  // namespace gpulog::syntax
