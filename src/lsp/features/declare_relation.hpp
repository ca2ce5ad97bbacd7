#pragma once

#include "lsp/features/place.hpp"

namespace gpulog::lsp {

/// Returns a quick fix for each undefined relation in bytes [begin, end): a declaration before the item that uses the
/// relation, with the types of the arguments.
[[nodiscard]] json declaring_fixes(const file_view& view, std::size_t begin, std::size_t end);

}  // namespace gpulog::lsp
