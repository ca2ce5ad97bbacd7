#pragma once

#include <cstddef>
#include <string_view>

/// Texts are bytes; some formats want characters.
namespace gpulog::io {

/// The size in bytes, 1 to 4, of the UTF-8 character in front of a text that is not empty; 0 where there is none.
[[nodiscard]] std::size_t utf8_character(std::string_view text);

[[nodiscard]] bool is_utf8(std::string_view text);

}  // namespace gpulog::io
