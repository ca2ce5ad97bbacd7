#pragma once

#include <cstddef>
#include <string_view>

/// UTF-8: texts are bytes, but some formats need characters.
namespace gpulog::io {

/// Returns the size in bytes, 1 to 4, of the first UTF-8 character of a non-empty text; 0 for invalid bytes.
[[nodiscard]] std::size_t utf8_character(std::string_view text);

[[nodiscard]] bool is_utf8(std::string_view text);

}  // namespace gpulog::io
