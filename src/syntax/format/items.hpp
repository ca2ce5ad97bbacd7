#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "syntax/format/pieces.hpp"

namespace gpulog::syntax {

/// Tokens [begin, end) that the formatter lays out together.
struct format_item {
  enum class kind : std::uint8_t {
    clause,       ///< also the call of a macro
    declaration,  ///< starts with a directive
    block_open,   ///< `.comp name {`
    block_close,  ///< `}`
    annotation,   ///< `@[text]`
  };
  static constexpr std::size_t none = static_cast<std::size_t>(-1);

  kind what = kind::clause;
  std::size_t begin = 0, end = 0;
  std::size_t body = none;  ///< the `:-` of a clause
  std::size_t plan = none;  ///< the `.plan` of a clause
  bool ends_in_dot = false;
  bool stays = false;  ///< the text is not understood, and stays as it is

  [[nodiscard]] bool is_fact() const { return what == kind::clause && ends_in_dot && body == none && !stays; }
};

/// Splits a program into items. Macros need not be expanded: a name after a closing bracket on a new line starts an
/// item, too.
[[nodiscard]] std::vector<format_item> items_of(const format_pieces& pieces);

}  // namespace gpulog::syntax
