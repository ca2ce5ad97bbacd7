#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace gpulog::lsp {

/// The unit of `character` in positions.
enum class position_encoding : std::uint8_t { utf8, utf16 };

/// A position of the protocol, from 0.
struct text_position {
  std::size_t line = 0;
  std::size_t character = 0;
  friend bool operator==(const text_position&, const text_position&) = default;
};

/// Converts between offsets in a text and positions, in logarithmic time also for a text of one line. A line ends with
/// `\n`, `\r\n` or `\r`.
class text_index {
 public:
  /// @param text must outlive the index
  text_index(std::string_view text, position_encoding encoding);

  [[nodiscard]] text_position position(std::size_t offset) const;
  /// Returns the offset of a position. A position after the end of a line or of the text is its end.
  [[nodiscard]] std::size_t offset(const text_position& position) const;
  [[nodiscard]] std::size_t line_count() const { return line_starts_.size(); }
  [[nodiscard]] std::string_view text() const { return text_; }
  /// Returns the length of a text in units of `character`.
  [[nodiscard]] std::size_t units_between(std::size_t begin, std::size_t end) const {
    return units_before(end) - units_before(begin);
  }

 private:
  [[nodiscard]] std::size_t units_before(std::size_t offset) const;
  /// Returns the end of the line without its line end.
  [[nodiscard]] std::size_t end_of_line(std::size_t line) const;

  std::string_view text_;
  std::vector<std::size_t> line_starts_;
  std::vector<std::size_t> units_;  ///< before each block of bytes; empty if each byte is a unit
};

}  // namespace gpulog::lsp
