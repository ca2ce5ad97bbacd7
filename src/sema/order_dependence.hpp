#pragma once

#include "sema/program.hpp"

/// Finds rules whose results depend on the time or order of derivations.
namespace gpulog::sema {

[[nodiscard]] bool has_stateful_functors(const program& source);

/// Returns whether the rule contains a counter, the number of an iteration, or an aggregate whose value depends on the
/// order.
/// @param has_state whether calls of functors also count
[[nodiscard]] bool notices_order(const rule& asked, bool has_state);

/// Returns whether a rule may read or compare the internal number of a symbol, a record or a branch, as ord() does.
/// These numbers depend on the order in which values occur.
[[nodiscard]] bool reads_internal_numbers(const program& source);

}  // namespace gpulog::sema
