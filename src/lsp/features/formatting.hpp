#pragma once

#include "lsp/features/place.hpp"

namespace gpulog::lsp {

/// Returns the edits that format the items that touch bytes [begin, end); none for a text with syntax errors.
[[nodiscard]] json formatting_edits(const workspace& all, const document& source, std::size_t begin, std::size_t end);

}  // namespace gpulog::lsp
