#pragma once

#include "lsp/features/place.hpp"

namespace gpulog::lsp {

/// Returns a quick fix for each atom in bytes [begin, end) with another number of arguments than its relation has
/// columns: adds the missing arguments, or adds columns to the declaration and `_` to the atoms of further bodies.
[[nodiscard]] json column_fixes(const file_view& view, std::size_t begin, std::size_t end);

}  // namespace gpulog::lsp
