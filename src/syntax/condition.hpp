#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "syntax/macros.hpp"

namespace gpulog::syntax {

/// The value of the expression of an #if: `defined` applied and macros expanded first, other names count as 0.
/// Nothing, with a message, when it is malformed.
[[nodiscard]] std::optional<std::int64_t> evaluate_condition(const std::vector<macro_token>& tokens,
                                                             macro_table& macros, std::uint32_t line,
                                                             const macro_table::error_function& error);

}  // namespace gpulog::syntax
