#pragma once

#include <cstddef>
#include <string>

#include "lsp/features/place.hpp"
#include "lsp/record/run_figures.hpp"

namespace gpulog::lsp {

/// Returns "Last run: 3 tuples, 24 bytes".
[[nodiscard]] std::string text_of(const relation_figures& figures);
/// Returns "Last run: 0.02 s, 3 tuples, 1 duplicate".
[[nodiscard]] std::string text_of(const clause_figures& figures);

/// Returns a lens with the figures of each relation and rule of the file that has figures.
/// @param has_plans whether the lens of a rule shows the plan of the rule
[[nodiscard]] json code_lenses(const file_view& view, bool has_plans);

/// Returns hints with tuples and seconds after the declarations and rules that end in bytes [begin, end].
[[nodiscard]] json inlay_hints(const file_view& view, std::size_t begin, std::size_t end);

}  // namespace gpulog::lsp
