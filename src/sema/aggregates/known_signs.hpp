#pragma once

#include <cstdint>
#include <vector>

#include "sema/program.hpp"

namespace gpulog::sema {

/// What is known of a value's sign.
enum class known_sign : std::uint8_t { none, not_negative, positive };

/// From the tests that stand beside the value in a body.
[[nodiscard]] known_sign sign_of(const program& program, const std::vector<literal>& body, const expression& value);

[[nodiscard]] bool is_strict(comparison_op op);

}  // namespace gpulog::sema
