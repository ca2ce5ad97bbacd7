#pragma once

#include <cstdint>
#include <vector>

#include "sema/program.hpp"

namespace gpulog::sema {

/// Knowledge about a value's sign.
enum class known_sign : std::uint8_t { none, not_negative, positive };

/// Returns the sign of a value, from the tests in its body.
[[nodiscard]] known_sign sign_of(const program& program, const std::vector<literal>& body, const expression& value);

[[nodiscard]] bool is_strict(comparison_op op);

}  // namespace gpulog::sema
