#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "syntax/format/format.hpp"

namespace gpulog::cli {

/// Returns the edits as a unified diff with three lines of context; empty without edits.
[[nodiscard]] std::string unified_diff(const std::string& name, std::string_view text,
                                       const std::vector<syntax::text_edit>& edits);

}  // namespace gpulog::cli
