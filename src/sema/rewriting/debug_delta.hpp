#pragma once

#include <vector>

#include "sema/types/declarations.hpp"
#include "syntax/ast.hpp"

namespace gpulog::sema {

/// `.decl D = debug_delta(R)`: which tuples each iteration of R's fixpoint found, with the iteration's number in a last
/// column: 0 for what is there before the first one.
[[nodiscard]] bool has_debug_deltas(const std::vector<syntax::item>& items);

/// The items with the columns of such relations, and with the rule that fills each,
/// `D(x, recursive_iteration_cnt() - 1) :- R(x).`, of which only the version runs that reads R's delta, one iteration
/// behind.
[[nodiscard]] std::vector<syntax::item> define_debug_deltas(std::vector<syntax::item> items);

/// R is made to depend on D, so that both are in one stratum.
[[nodiscard]] std::vector<dependency> debug_delta_dependencies(const std::vector<syntax::item>& items,
                                                               const declarations& declared);

}  // namespace gpulog::sema
