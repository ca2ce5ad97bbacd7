#pragma once

#include "sema/program.hpp"

/// Finds rules whose results depend on the time or order of derivations.
namespace gpulog::sema {

[[nodiscard]] bool has_stateful_functors(const program& source);

/// Returns whether the rule contains a counter, the number of an iteration, or an aggregate whose value depends on the
/// order.
/// @param has_state whether calls of functors also count
[[nodiscard]] bool notices_order(const rule& asked, bool has_state);

}  // namespace gpulog::sema
