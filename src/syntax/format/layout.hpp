#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "syntax/format/items.hpp"
#include "syntax/format/pieces.hpp"

namespace gpulog::syntax {

inline constexpr std::size_t format_columns = 100;
inline constexpr std::size_t format_indentation = 2;

/// Returns the canonical text of an item whose first line begins after `indent` blanks, without a line end.
/// @param newline the line end of the file
[[nodiscard]] std::string layout_of(const format_pieces& pieces, const format_item& item, std::size_t indent,
                                    std::string_view newline);

}  // namespace gpulog::syntax
