#pragma once

#include <cstdint>
#include <string>

namespace gpulog {

enum class severity : std::uint8_t { error, warning };

/// One remark on a program's text.
struct diagnostic {
  severity level = severity::error;
  std::string message;       ///< without place
  std::string file;          ///< as it was named; empty when the remark has no place
  std::uint32_t line = 0;    ///< from 1; 0 when the remark has no place
  std::uint32_t column = 0;  ///< from 1, in bytes
  std::string text;          ///< the whole remark as printed: message, place, source line, caret; ends with a newline
};

}  // namespace gpulog
