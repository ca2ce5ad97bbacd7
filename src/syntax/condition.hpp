#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "syntax/macros.hpp"

namespace gpulog::syntax {

/// Returns the value of an #if expression: `defined` and macros are replaced first, and remaining names count as 0.
/// Reports an error and returns nothing for a malformed expression.
[[nodiscard]] std::optional<std::int64_t> evaluate_condition(const std::vector<macro_token>& tokens,
                                                             macro_table& macros, std::uint32_t line,
                                                             const macro_table::error_function& error);

}  // namespace gpulog::syntax
