#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "lsp/features/place.hpp"

namespace gpulog::lsp {

/// A position between tokens, also in an item that cannot be parsed.
class text_cursor {
 public:
  text_cursor(const file_view& view, std::size_t offset);

  /// Returns the part of a name before the position.
  [[nodiscard]] std::string_view prefix() const { return text_.substr(prefix_begin_, offset_ - prefix_begin_); }
  [[nodiscard]] std::size_t prefix_begin() const { return prefix_begin_; }
  /// Returns the name that the position touches.
  [[nodiscard]] std::string_view word() const;
  /// Returns whether the position is in a comment or text.
  [[nodiscard]] bool is_in_text() const { return is_in_text_; }
  /// Returns the byte before the prefix; 0 at the start.
  [[nodiscard]] char byte_before() const { return prefix_begin_ == 0 ? '\0' : text_[prefix_begin_ - 1]; }
  /// Returns whether only blanks precede the dot before the prefix in its line.
  [[nodiscard]] bool is_directive() const;
  /// Returns the names with dots before the dot before the prefix: `a.b` of `a.b.c`.
  [[nodiscard]] std::string_view qualifier() const;

  /// Numbers [item_begin(), before()) are the tokens of the item before the prefix; empty at the start of an item.
  [[nodiscard]] std::size_t item_begin() const { return item_begin_; }
  [[nodiscard]] std::size_t before() const { return before_; }
  [[nodiscard]] std::size_t item_end() const { return item_end_; }
  [[nodiscard]] const syntax::format_pieces& pieces() const { return pieces_; }
  [[nodiscard]] syntax::token_kind kind(std::size_t token) const { return pieces_.kind(token); }
  [[nodiscard]] std::string_view text(std::size_t token) const { return pieces_.text_of(pieces_.tokens[token]); }

  /// An open bracket before the position.
  struct bracket {
    std::size_t token;
    std::size_t commas;  ///< after the bracket, outside inner brackets
  };
  /// Returns the open brackets of the item, the innermost last.
  [[nodiscard]] std::vector<bracket> open_brackets() const;
  /// Returns the name before a bracket, with qualifier and mark, such as `c.edge`, `$Node` or `@f`; otherwise empty.
  [[nodiscard]] std::string name_before(const bracket& open) const;

 private:
  void find_item(const std::vector<syntax::format_item>& items);

  const syntax::format_pieces& pieces_;
  std::string_view text_;
  std::size_t offset_;
  std::size_t prefix_begin_;
  std::size_t before_ = 0, item_begin_ = 0, item_end_ = 0;
  bool is_in_text_ = false;
};

}  // namespace gpulog::lsp
