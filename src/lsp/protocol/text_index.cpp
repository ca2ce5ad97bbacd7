#include "lsp/protocol/text_index.hpp"

#include <algorithm>

namespace gpulog::lsp {

namespace {

constexpr std::size_t block_bytes = 1024;

/// Returns the UTF-16 code units of the character that starts with this byte; 0 for a byte inside a character.
std::size_t units_of(char c) {
  const auto byte = static_cast<unsigned char>(c);
  if ((byte & 0xC0U) == 0x80U) return 0;
  return byte >= 0xF0U ? 2 : 1;
}

std::size_t units_in(std::string_view text) {
  std::size_t count = 0;
  for (const char c : text) count += units_of(c);
  return count;
}

}  // namespace

text_index::text_index(std::string_view text, position_encoding encoding) : text_(text), line_starts_{0} {
  bool is_ascii = true;
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (static_cast<unsigned char>(text[at]) >= 0x80U) is_ascii = false;
    const bool ends_line = text[at] == '\n' || (text[at] == '\r' && (at + 1 == text.size() || text[at + 1] != '\n'));
    if (ends_line) line_starts_.push_back(at + 1);
  }
  if (is_ascii || encoding == position_encoding::utf8) return;
  std::size_t count = 0;
  for (std::size_t begin = 0; begin <= text.size(); begin += block_bytes) {
    units_.push_back(count);
    count += units_in(text.substr(begin, block_bytes));
  }
}

std::size_t text_index::units_before(std::size_t offset) const {
  if (units_.empty()) return offset;
  const std::size_t block = offset / block_bytes;
  return units_[block] + units_in(text_.substr(block * block_bytes, offset % block_bytes));
}

std::size_t text_index::end_of_line(std::size_t line) const {
  if (line + 1 == line_starts_.size()) return text_.size();
  const std::size_t begin = line_starts_[line];
  std::size_t end = line_starts_[line + 1] - 1;
  if (end > begin && text_[end] == '\n' && text_[end - 1] == '\r') --end;
  return end;
}

text_position text_index::position(std::size_t offset) const {
  offset = std::min(offset, text_.size());
  const auto after = std::upper_bound(line_starts_.begin(), line_starts_.end(), offset);
  const auto line = static_cast<std::size_t>(after - line_starts_.begin()) - 1;
  return {line, units_before(offset) - units_before(line_starts_[line])};
}

std::size_t text_index::offset(const text_position& position) const {
  if (position.line >= line_starts_.size()) return text_.size();
  const std::size_t begin = line_starts_[position.line];
  const std::size_t end = end_of_line(position.line);
  if (units_.empty()) return begin + std::min(position.character, end - begin);
  const std::size_t before = units_before(begin);
  if (position.character >= units_before(end) - before) return end;
  const std::size_t wanted = before + position.character;
  const auto block =
      static_cast<std::size_t>(std::upper_bound(units_.begin(), units_.end(), wanted) - units_.begin()) - 1;
  std::size_t at = std::max(begin, block * block_bytes);
  for (std::size_t count = units_before(at); at < end; ++at) {
    const std::size_t units = units_of(text_[at]);
    if (units > 0 && count + units > wanted) break;
    count += units;
  }
  return at;
}

}  // namespace gpulog::lsp
