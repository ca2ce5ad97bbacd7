#pragma once

#include "lsp/features/place.hpp"

namespace gpulog::lsp {

/// Returns the completions at an offset.
/// @param with_snippets whether the editor accepts placeholders for arguments
[[nodiscard]] json completions_at(const file_view& view, std::size_t offset, bool with_snippets);

/// Returns the signature of the innermost atom, constructor or functor call around the offset; null if none.
[[nodiscard]] json signature_help_at(const file_view& view, std::size_t offset);

}  // namespace gpulog::lsp
