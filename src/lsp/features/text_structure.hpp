#pragma once

#include "lsp/features/place.hpp"

namespace gpulog::lsp {

/// Returns the ranges that can be folded: items, components and comments of several lines.
[[nodiscard]] json folding_ranges(const file_view& view);

/// Returns the legend of semantic_tokens(): names of types and modifiers.
[[nodiscard]] json semantic_legend();

/// Returns the tokens of a file as numbers, relative to each other.
[[nodiscard]] json semantic_tokens(const file_view& view);

}  // namespace gpulog::lsp
