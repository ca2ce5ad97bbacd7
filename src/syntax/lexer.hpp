#pragma once

#include <cstddef>
#include <deque>
#include <string>
#include <string_view>

#include "support/diagnostics.hpp"
#include "support/source.hpp"
#include "syntax/mapped_text.hpp"
#include "syntax/token.hpp"

namespace gpulog::syntax {

[[nodiscard]] constexpr bool is_digit(char c) { return c >= '0' && c <= '9'; }
[[nodiscard]] constexpr bool is_identifier_start(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '?';
}
[[nodiscard]] constexpr bool is_identifier_part(char c) { return is_identifier_start(c) || is_digit(c); }

struct lexer_options {
  /// Owns texts that the program does not contain, such as strings without their escapes; null: such tokens have no
  /// texts, and nothing reports their errors.
  std::deque<std::string>* texts = nullptr;
  bool warnings = false;
  bool has_lines = true;  ///< otherwise `__LINE__` is 0, and `__INCL__` is empty
};

/// Splits a text into tokens. Skips comments except `///` comments. Returns end_of_file forever after the end.
class lexer {
 public:
  /// `text` and `report` must outlive the lexer. `raw_file`, if any, is the unprocessed file of the text: lines `# 12
  /// "name"` and `#line 12` then renumber its lines.
  lexer(const mapped_text& text, diagnostics& report, source_file* raw_file, const lexer_options& options);

  [[nodiscard]] token next();

 private:
  [[nodiscard]] char peek(std::size_t ahead = 0) const {
    return position_ + ahead < text_.size() ? text_[position_ + ahead] : '\0';
  }
  [[nodiscard]] source_span span_from(std::size_t begin) const { return mapped_.span(begin, position_); }
  [[nodiscard]] token make(token_kind kind, std::size_t begin) const { return {kind, {}, span_from(begin)}; }
  [[nodiscard]] std::string_view stored(std::string text) const {
    return options_.texts->emplace_back(std::move(text));
  }

  void skip_blanks();
  bool skip_block_comment();
  [[nodiscard]] bool at_doc_comment() const { return text_.substr(position_).starts_with("///"); }
  token doc_comment();
  void hash_line();
  token word();
  void replace_predefined_word(token& word) const;
  token number();
  token string();
  /// Returns the value of the closed string that begins at `begin`.
  [[nodiscard]] std::string without_escapes(std::size_t begin) const;
  token directive_or_dot();
  token punctuation();
  token unexpected();

  const mapped_text& mapped_;
  std::string_view text_;
  std::size_t position_ = 0;
  diagnostics& report_;
  source_file* raw_file_;
  lexer_options options_;
};

/// What a backslash and this character give in a string; nothing for an unknown escape sequence.
[[nodiscard]] std::optional<char> escaped_character(char c);

/// A line that starts with `#`: `# 12 "name" flags`, `#line 12`, `#line 12 "name"`.
struct line_marker {
  bool valid = false;
  std::uint32_t line = 0;
  std::string path;  ///< empty: unchanged
};
[[nodiscard]] line_marker parse_line_marker(std::string_view line);

}  // namespace gpulog::syntax
