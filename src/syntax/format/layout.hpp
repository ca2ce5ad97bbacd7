#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "syntax/format/items.hpp"
#include "syntax/format/pieces.hpp"

namespace gpulog::syntax {

inline constexpr std::size_t format_columns = 100;
inline constexpr std::size_t format_indentation = 2;

/// Memory of layout_of(), for further calls.
struct layout_memory {
  struct measured_token {
    std::size_t match = 0;           ///< of an opening bracket: the closing bracket
    std::size_t columns_before = 0;  ///< of all earlier tokens, on one line
    std::size_t gap = 0;             ///< columns of blanks and comments before the token
    std::size_t breaks = 0;          ///< lines that must end, before this token and earlier ones
  };
  struct open_bracket {
    std::size_t token;
    bool has_literals;  ///< whether it may contain literals
  };
  std::vector<measured_token> measured;
  std::vector<open_bracket> open;
};

/// Returns the canonical text of an item whose first line begins after `indent` blanks, without a line end.
/// @param newline the line end of the file
[[nodiscard]] std::string layout_of(const format_pieces& pieces, const format_item& item, std::size_t indent,
                                    std::string_view newline, layout_memory& memory);

}  // namespace gpulog::syntax
