#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "support/source.hpp"

namespace gpulog::syntax {

enum class token_kind : std::uint8_t {
  end_of_file,
  invalid,  ///< begins no token
  string,
  identifier,
  number,
  unsigned_number,
  floating,
  // words
  word_autoinc,
  word_output,
  word_input,
  word_printsize,
  word_brie,
  word_btree,
  word_btree_delete,
  word_eqrel,
  word_overridable,
  word_inline,
  word_no_inline,
  word_magic,
  word_no_magic,
  word_match,
  word_contains,
  word_stateful,
  word_cat,
  word_ord,
  word_range,
  word_strlen,
  word_substr,
  word_mean,
  word_min,
  word_max,
  word_count,
  word_sum,
  word_true,
  word_false,
  word_iteration,
  word_choice_domain,
  word_debug_delta,
  word_to_float,
  word_to_number,
  word_to_string,
  word_to_unsigned,
  word_as,
  word_nil,
  word_band,
  word_bor,
  word_bxor,
  word_bshl,
  word_bshr,
  word_bshru,
  word_bnot,
  word_land,
  word_lor,
  word_lxor,
  word_lnot,
  // directives
  directive_decl,
  directive_functor,
  directive_input,
  directive_output,
  directive_printsize,
  directive_limitsize,
  directive_type,
  directive_lattice,
  directive_comp,
  directive_init,
  directive_number_type,
  directive_symbol_type,
  directive_override,
  directive_pragma,
  directive_plan,
  directive_include,
  directive_once,
  // punctuation
  if_,
  at,
  at_not,
  pipe,
  left_bracket,
  right_bracket,
  underscore,
  dollar,
  plus,
  minus,
  exclamation,
  left_parenthesis,
  right_parenthesis,
  comma,
  colon,
  double_colon,
  semicolon,
  dot,
  equals,
  star,
  slash,
  caret,
  percent,
  left_brace,
  right_brace,
  subtype,
  less,
  greater,
  less_equal,
  greater_equal,
  not_equal,
  maps_to,
  // tokens outside of the grammar
  doc_comment,  ///< consecutive lines of `///`
  include_begins,
  include_ends,
};

/// The name in messages: `identifier`, `:-`, `","`, ...
[[nodiscard]] std::string_view readable_name(token_kind kind);

/// Returns the kind of a reserved word, or identifier.
[[nodiscard]] token_kind kind_of_word(std::string_view word);
/// Returns the kind of a directive's name without its dot, or dot for an unknown directive.
[[nodiscard]] token_kind kind_of_directive(std::string_view word);

/// Without dots.
[[nodiscard]] std::vector<std::string_view> directive_names();

[[nodiscard]] constexpr bool is_word(token_kind kind) {
  return kind >= token_kind::word_autoinc && kind <= token_kind::word_lnot;
}
[[nodiscard]] constexpr bool is_directive(token_kind kind) {
  return kind >= token_kind::directive_decl && kind <= token_kind::directive_once;
}

[[nodiscard]] constexpr bool is_opening_bracket(token_kind kind) {
  return kind == token_kind::left_parenthesis || kind == token_kind::left_bracket || kind == token_kind::left_brace;
}
[[nodiscard]] constexpr bool is_closing_bracket(token_kind kind) {
  return kind == token_kind::right_parenthesis || kind == token_kind::right_bracket || kind == token_kind::right_brace;
}

[[nodiscard]] constexpr bool is_aside(token_kind kind) { return kind >= token_kind::doc_comment; }

inline constexpr std::size_t token_kind_count = static_cast<std::size_t>(token_kind::include_ends) + 1;

struct token {
  token_kind kind = token_kind::end_of_file;
  /// Identifiers and numbers as written (an IPv4 address: as its number), strings without quotes and escapes. Of an
  /// invalid token the message, and on a second line the hint; empty when it was reported. Valid as long as the
  /// program's text and the lexer's `texts`.
  std::string_view text;
  source_span span;
};

/// A token by its bytes in the text that was split.
struct token_place {
  token_kind kind;
  std::uint32_t begin, end;
};

}  // namespace gpulog::syntax
