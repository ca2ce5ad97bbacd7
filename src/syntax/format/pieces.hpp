#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "support/source.hpp"
#include "syntax/token.hpp"

namespace gpulog::syntax {

inline constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";

inline constexpr std::size_t fewest_bytes_per_token = 2;  ///< of usual programs, with blanks and comments

/// A comment or a line of the preprocessor, between two tokens.
struct format_comment {
  enum class kind : std::uint8_t {
    line,       ///< `// text`, or text after `#` that the lexer ignores
    block,      ///< `/* text */`
    directive,  ///< `#define`, with continued lines
  };
  std::size_t begin = 0, end = 0;  ///< without blanks at the end
  kind what = kind::line;
  std::uint32_t lines_before = 0;  ///< line ends between the previous token or comment and this comment
  bool has_several_lines = false;
};

/// A token of the text before the preprocessor runs.
struct format_token {
  token_kind kind = token_kind::end_of_file;
  bool is_on_new_line = false;  ///< whether a line end precedes the token, in a comment or not
  bool has_several_lines = false;
  std::uint8_t lines_before = 0;  ///< line ends after the previous token or comment, at most 2
  std::uint32_t begin = 0, end = 0;
  std::uint32_t columns = 0;                           ///< width in code points
  std::uint32_t comments_begin = 0, comments_end = 0;  ///< comments before this token, by number
};

struct format_pieces {
  std::string_view text;
  std::vector<format_token> tokens;  ///< the last token is end_of_file
  std::vector<format_comment> comments;

  [[nodiscard]] token_kind kind(std::size_t token) const { return tokens[token].kind; }
  [[nodiscard]] std::string_view text_of(const format_token& token) const {
    return text.substr(token.begin, token.end - token.begin);
  }
  [[nodiscard]] bool has_directive(const format_token& token) const {
    const auto place = [this](std::uint32_t number) { return comments.begin() + static_cast<std::ptrdiff_t>(number); };
    return std::any_of(place(token.comments_begin), place(token.comments_end),
                       [](const format_comment& each) { return each.what == format_comment::kind::directive; });
  }
  [[nodiscard]] std::string_view text_of(const format_comment& comment) const {
    return text.substr(comment.begin, comment.end - comment.begin);
  }
};

/// Returns the number of code points of a text in UTF-8; each byte of an invalid text counts at most once.
[[nodiscard]] std::size_t columns_of(std::string_view text);

/// Splits a file into tokens and comments. A comma or dot precedes the comments that precede it in the text.
[[nodiscard]] format_pieces pieces_of(const source_file& file);
/// Does the same for the tokens that the parser has read from a file without macros.
[[nodiscard]] format_pieces pieces_of(const source_file& file, const std::vector<token_place>& tokens);

}  // namespace gpulog::syntax
