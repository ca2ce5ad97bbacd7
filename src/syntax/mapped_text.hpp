#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "support/source.hpp"

namespace gpulog::syntax {

/// A text composed of pieces of source files, with the source location of each byte.
class mapped_text {
 public:
  /// Represents the whole unchanged file.
  explicit mapped_text(const source_file& file);
  mapped_text() = default;

  /// Appends bytes [begin, end) of the file unchanged.
  void append_verbatim(const source_file& file, std::uint32_t begin, std::uint32_t end);
  /// Appends text with a single origin, for example the expansion of a macro call.
  void append_replacement(std::string_view text, const source_span& origin);

  [[nodiscard]] std::string_view text() const { return whole_file_ ? whole_file_->text() : std::string_view(text_); }
  /// Returns the location of bytes [begin, end); begin <= end <= text().size().
  [[nodiscard]] source_span span(std::size_t begin, std::size_t end) const {
    if (whole_file_ == nullptr) return span_of_pieces(begin, end);
    return {whole_file_, static_cast<std::uint32_t>(begin), static_cast<std::uint32_t>(end)};
  }

 private:
  struct piece {
    std::size_t begin;   ///< offset in the text
    source_span origin;  ///< origin of the whole piece
    bool verbatim;       ///< bytes correspond one to one
  };
  [[nodiscard]] source_span span_of_pieces(std::size_t begin, std::size_t end) const;
  [[nodiscard]] const piece& piece_at(std::size_t offset) const;

  const source_file* whole_file_ = nullptr;
  std::string text_;
  std::vector<piece> pieces_;
  mutable std::size_t last_piece_ = 0;  ///< result of the last search; searches mostly move forward
};

}  // namespace gpulog::syntax
