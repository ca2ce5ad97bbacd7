#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "syntax/token.hpp"

/// Guesses of what a text means that has no place in the grammar: spellings of other languages, common mistakes, and
/// misspelled names. All functions return a sentence, or nothing.
namespace gpulog::syntax {

/// What the parser knows about the place of a syntax error. A hint may require any of these (`hints.cpp`).
namespace place_flag {
enum : std::uint32_t {
  item_begin = 1U << 0U,          ///< nothing of an item was read
  second_token = 1U << 1U,        ///< one token of an item was read
  in_head = 1U << 2U,             ///< `:-` could stand here
  after_operand = 1U << 3U,       ///< `,`, `;` or an operator could stand here
  wants_value = 1U << 4U,         ///< a constant could stand here
  wants_name = 1U << 5U,          ///< an identifier could stand here
  wants_end = 1U << 6U,           ///< `)` could stand here
  wants_parenthesis = 1U << 7U,   ///< nothing but `(` could stand here
  wants_colon = 1U << 8U,         ///< nothing but `:` could stand here
  wants_brace = 1U << 9U,         ///< nothing but `{` could stand here
  in_clause = 1U << 10U,          ///< the item begins with a name
  in_type = 1U << 11U,            ///< the item begins with .type
  in_directive = 1U << 12U,       ///< the item begins with .input, .output, .printsize or .limitsize
  after_declaration = 1U << 13U,  ///< the item before is no clause
  after_directive = 1U << 14U,    ///< the item before is a directive such as .output
  after_type = 1U << 15U,         ///< the item before is a .type
  follows_rule = 1U << 16U,       ///< the item before is a rule that ends on the same line or begins further left
  in_brackets = 1U << 17U,        ///< the innermost open bracket is `[`
  in_parentheses = 1U << 18U,     ///< the innermost open bracket is `(`
  in_form = 1U << 19U,            ///< an aggregate, or a test such as contains, was not read as far as its end
  value_alone = 1U << 20U,        ///< a literal was expected, and a value was read
  adjacent = 1U << 21U,           ///< no blank separates the last token from the unexpected one
  next_adjacent = 1U << 22U,      ///< no blank separates the unexpected token from the next
  next_on_line = 1U << 23U,       ///< the next token is on the same line
  ends_rule = 1U << 24U,          ///< an earlier `;` ends its line, and the next line begins like an item
};
}  // namespace place_flag

/// Where a syntax error is.
struct unexpected_place {
  token_kind kind;       ///< of the unexpected token
  source_span current;   ///< of the unexpected token
  token_kind last_kind;  ///< of the token before
  source_span last;      ///< of the token before; invalid where there is none
  token_kind next_kind;  ///< of the token after
  std::uint32_t flags;   ///< of place_flag
  source_span value;     ///< with value_alone: of the value
  source_span form;      ///< with in_form: of its word
};

struct hint {
  std::string text;
  std::string_view unknown;  ///< a name that no functor has; declarations of the program may say more about it
  token_kind reserved = token_kind::identifier;  ///< the reserved word that is used as a name, if any
};
[[nodiscard]] hint hint_at(const unexpected_place& place);

[[nodiscard]] std::string hint_about_comments();

/// The form of the aggregate `op` ("count", "sum", ...).
[[nodiscard]] std::string hint_about_aggregate_form(std::string_view op);

/// Names of other languages, and misspelled ones (`foreign_names.cpp`).
[[nodiscard]] std::string hint_about_directive(std::string_view name);
[[nodiscard]] std::string hint_about_aggregate(std::string_view name);
/// Empty where nothing like it is known.
[[nodiscard]] std::string hint_about_functor(std::string_view name);
[[nodiscard]] bool is_name(std::string_view text);

/// About bytes that begin no token (`character_hints.cpp`). `rest` begins with them.
[[nodiscard]] std::string hint_about_text(std::string_view rest);
/// How many of these bytes belong together, so that they are reported once: 1 at least.
[[nodiscard]] std::size_t length_of_unknown(std::string_view rest);
/// As a message names them: themselves, or "U+0000" where they cannot be seen.
[[nodiscard]] std::string visible_text(std::string_view unknown);

}  // namespace gpulog::syntax
