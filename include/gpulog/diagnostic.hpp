#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace gpulog {

enum class severity : std::uint8_t { error, warning };

/// An additional note of a diagnostic, such as the place of a declaration or a hint.
struct diagnostic_note {
  std::string message;
  std::string file;          ///< empty if the note has no place
  std::uint32_t line = 0;    ///< 1-based; 0 if the note has no place
  std::uint32_t column = 0;  ///< 1-based, in bytes
};

/// An error or a warning about a program's text.
struct diagnostic {
  severity level = severity::error;
  std::string message;       ///< without the place
  std::string file;          ///< as named by the caller; empty if the diagnostic has no place
  std::uint32_t line = 0;    ///< 1-based; 0 if the diagnostic has no place
  std::uint32_t column = 0;  ///< 1-based, in bytes
  std::vector<diagnostic_note> notes;
  std::string text;  ///< the whole diagnostic as printed: message, place, source line, caret; with a final newline
};

}  // namespace gpulog
