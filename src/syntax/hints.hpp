#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "syntax/token.hpp"

/// Hints for texts that do not match the grammar: spellings of further languages, common mistakes, and misspelled
/// names. All functions return a sentence, or an empty text.
namespace gpulog::syntax {

/// Facts about the place of a syntax error. A row of the table in `hints.cpp` may require any facts.
namespace place_flag {
enum : std::uint32_t {
  item_begin = 1U << 0U,          ///< no token of the item was read
  second_token = 1U << 1U,        ///< one token of the item was read
  in_head = 1U << 2U,             ///< `:-` would be valid here
  after_operand = 1U << 3U,       ///< `,`, `;` or an operator would be valid here
  wants_value = 1U << 4U,         ///< a constant would be valid here
  wants_name = 1U << 5U,          ///< an identifier would be valid here
  wants_end = 1U << 6U,           ///< `)` would be valid here
  wants_parenthesis = 1U << 7U,   ///< only `(` would be valid here
  wants_colon = 1U << 8U,         ///< only `:` would be valid here
  wants_brace = 1U << 9U,         ///< only `{` would be valid here
  in_clause = 1U << 10U,          ///< the item starts with a name
  in_type = 1U << 11U,            ///< the item starts with .type
  in_directive = 1U << 12U,       ///< the item starts with .input, .output, .printsize or .limitsize
  after_declaration = 1U << 13U,  ///< the previous item is no clause
  after_directive = 1U << 14U,    ///< the previous item is a directive such as .output
  after_type = 1U << 15U,         ///< the previous item is a .type
  follows_rule = 1U << 16U,       ///< the previous item is a rule that ends on the same line or starts further left
  in_brackets = 1U << 17U,        ///< the innermost open bracket is `[`
  in_parentheses = 1U << 18U,     ///< the innermost open bracket is `(`
  in_form = 1U << 19U,            ///< the end of an aggregate, or of a test such as contains, was not reached
  value_alone = 1U << 20U,        ///< a literal was expected, and a value was read
  adjacent = 1U << 21U,           ///< no blank separates the last token from the unexpected token
  next_adjacent = 1U << 22U,      ///< no blank separates the unexpected token from the next
  next_on_line = 1U << 23U,       ///< the next token is on the same line
  ends_rule = 1U << 24U,          ///< an earlier `;` ends its line, and the next line starts like an item
};
}  // namespace place_flag

/// The place of a syntax error.
struct unexpected_place {
  token_kind kind;       ///< kind of the unexpected token
  source_span current;   ///< span of the unexpected token
  token_kind last_kind;  ///< kind of the previous token
  source_span last;      ///< span of the previous token; invalid at the start
  token_kind next_kind;  ///< kind of the next token
  std::uint32_t flags;   ///< values of place_flag
  source_span value;     ///< with value_alone: span of the value
  source_span form;      ///< with in_form: span of the keyword
};

struct hint {
  std::string text;
  std::string_view unknown;  ///< a name that no functor has; declarations of the program may explain it
  token_kind reserved = token_kind::identifier;  ///< the reserved word used as a name, if any
  source_span misspelled = {};                   ///< a name that `meant` would correct, if valid
  std::string meant = {};
};
[[nodiscard]] hint hint_at(const unexpected_place& place);

[[nodiscard]] std::string hint_about_comments();

/// Returns the form of the aggregate `op` ("count", "sum", ...).
[[nodiscard]] std::string hint_about_aggregate_form(std::string_view op);

/// Return hints about names of further languages and misspelled names (`foreign_names.cpp`).
[[nodiscard]] hint hint_about_directive(const source_span& name);
[[nodiscard]] hint hint_about_aggregate(const source_span& name);
/// Returns an empty text if no similar functor is known.
[[nodiscard]] hint hint_about_functor(const source_span& name);
[[nodiscard]] bool is_name(std::string_view text);

/// Returns a hint about bytes that start no token (`character_hints.cpp`).
/// @param rest the text from these bytes on
[[nodiscard]] std::string hint_about_text(std::string_view rest);
/// Returns how many bytes form a unit, so that one error covers them; at least 1.
[[nodiscard]] std::size_t length_of_unknown(std::string_view rest);
/// Returns the text for messages: the bytes, or "U+0000" for invisible characters.
[[nodiscard]] std::string visible_text(std::string_view unknown);

}  // namespace gpulog::syntax
