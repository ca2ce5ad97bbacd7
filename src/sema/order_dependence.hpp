#pragma once

#include "sema/program.hpp"

/// Rules whose results depend on when, or in which order, tuples come.
namespace gpulog::sema {

[[nodiscard]] bool has_stateful_functors(const program& source);

/// Whether it has a counter, the number of an iteration, or an aggregate whose value depends on the order.
/// @param has_state whether calls of functors are such, too
[[nodiscard]] bool notices_order(const rule& asked, bool has_state);

}  // namespace gpulog::sema
