#include "io/values/utf8.hpp"

#include <cstdint>
#include <cstring>

namespace gpulog::io {

std::size_t utf8_character(std::string_view text) {
  const auto first = static_cast<unsigned char>(text[0]);
  if (first < 0x80) return 1;
  const std::size_t size = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
  if (first < 0xc2 || first > 0xf4 || text.size() < size) return 0;
  std::uint32_t code = first & (0x7fU >> size);
  for (std::size_t next = 1; next < size; ++next) {
    const auto byte = static_cast<unsigned char>(text[next]);
    if ((byte & 0xc0) != 0x80) return 0;
    code = code << 6 | (byte & 0x3f);
  }
  // Rejects overlong forms, surrogates, and code points above the last character.
  if ((size == 3 && code < 0x800) || (size == 4 && (code < 0x10000 || code > 0x10ffff))) return 0;
  return code >= 0xd800 && code < 0xe000 ? 0 : size;
}

bool is_utf8(std::string_view text) {
  constexpr std::uint64_t upper_bits = 0x8080808080808080;
  while (!text.empty()) {
    std::uint64_t eight = upper_bits;
    if (text.size() >= sizeof eight) std::memcpy(&eight, text.data(), sizeof eight);
    const std::size_t size = (eight & upper_bits) == 0 ? sizeof eight : utf8_character(text);
    if (size == 0) return false;
    text.remove_prefix(size);
  }
  return true;
}

}  // namespace gpulog::io
