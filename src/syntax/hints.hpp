#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "syntax/token.hpp"

/// Guesses of what a text means that has no place in the grammar: spellings of other languages, and misspelled names.
/// All functions give a sentence, or nothing.
namespace gpulog::syntax {

/// Where a syntax error is.
struct unexpected_place {
  token_kind kind;          ///< of the unexpected token
  source_span current;      ///< of the unexpected token
  source_span last;         ///< of the token before; invalid where there is none
  bool begins_item;         ///< nothing of an item was read
  bool may_be_rule;         ///< `:-` could stand here
  bool may_be_literal_end;  ///< `,`, `;` or an operator could stand here
  bool has_to_be_colon;     ///< nothing but `:` could stand here
};
[[nodiscard]] std::string hint_at(const unexpected_place& place);

[[nodiscard]] std::string hint_about_comments();

/// About bytes that begin no token. `rest` begins with them.
[[nodiscard]] std::string hint_about_text(std::string_view rest);
/// How many of these bytes belong together, so that they are reported once: 1 at least.
[[nodiscard]] std::size_t length_of_unknown(std::string_view rest);

}  // namespace gpulog::syntax
