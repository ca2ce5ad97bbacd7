#pragma once

#include <cstddef>

#include "lsp/features/place.hpp"

namespace gpulog::lsp {

/// Returns a refactoring of the literals in bytes [begin, end) of a rule: a new relation with their common rule, whose
/// columns are the variables that the rest of the rule uses. Empty if bytes [begin, end) are no whole literals, or if
/// the result would have errors or another meaning.
[[nodiscard]] json extracting_actions(const file_view& view, std::size_t begin, std::size_t end);

}  // namespace gpulog::lsp
