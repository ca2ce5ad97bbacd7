#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "support/source.hpp"

namespace gpulog::syntax {

/// A text put together from pieces of source files, which knows for each byte where it comes from.
class mapped_text {
 public:
  /// The whole file as it is.
  explicit mapped_text(const source_file& file);
  mapped_text() = default;

  /// Appends bytes [begin, end) of the file as they are.
  void append_verbatim(const source_file& file, std::uint32_t begin, std::uint32_t end);
  /// Appends text that all comes from one place, as the expansion of a macro does from its call.
  void append_replacement(std::string_view text, const source_span& origin);

  [[nodiscard]] std::string_view text() const { return whole_file_ ? whole_file_->text() : std::string_view(text_); }
  /// The place of bytes [begin, end); begin <= end <= text().size().
  [[nodiscard]] source_span span(std::size_t begin, std::size_t end) const;

 private:
  struct piece {
    std::size_t begin;   ///< in the text
    source_span origin;  ///< of the whole piece
    bool verbatim;       ///< whether the bytes correspond one to one
  };
  [[nodiscard]] const piece& piece_at(std::size_t offset) const;

  const source_file* whole_file_ = nullptr;
  std::string text_;
  std::vector<piece> pieces_;
  mutable std::size_t last_piece_ = 0;  ///< where the last search ended; searches mostly go forward
};

}  // namespace gpulog::syntax
