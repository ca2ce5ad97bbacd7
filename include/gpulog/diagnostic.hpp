#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace gpulog {

enum class severity : std::uint8_t { error, warning };

/// What belongs to a remark, at a place of its own or at none: where something is declared, or a hint.
struct diagnostic_note {
  std::string message;
  std::string file;          ///< empty when the note has no place
  std::uint32_t line = 0;    ///< from 1; 0 when the note has no place
  std::uint32_t column = 0;  ///< from 1, in bytes
};

/// One remark on a program's text.
struct diagnostic {
  severity level = severity::error;
  std::string message;       ///< without place
  std::string file;          ///< as it was named; empty when the remark has no place
  std::uint32_t line = 0;    ///< from 1; 0 when the remark has no place
  std::uint32_t column = 0;  ///< from 1, in bytes
  std::vector<diagnostic_note> notes;
  std::string text;  ///< the whole remark as printed: message, place, source line, caret; ends with a newline
};

}  // namespace gpulog
