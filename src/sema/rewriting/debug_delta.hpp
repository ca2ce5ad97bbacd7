#pragma once

#include <vector>

#include "sema/types/declarations.hpp"
#include "syntax/ast.hpp"

namespace gpulog::sema {

/// `.decl D = debug_delta(R)`: the new tuples of each iteration of R's fixpoint, with the number of the iteration in an
/// additional last column; 0 for tuples from before the first iteration.
[[nodiscard]] bool has_debug_deltas(const std::vector<syntax::item>& items);

/// Returns the items with the columns of such relations and with the rule that fills each relation, `D(x,
/// recursive_iteration_cnt() - 1) :- R(x).`. Only the version that reads R's delta runs, one iteration later.
[[nodiscard]] std::vector<syntax::item> define_debug_deltas(std::vector<syntax::item> items);

/// Returns dependencies from D to R, so that both are in one stratum.
[[nodiscard]] std::vector<dependency> debug_delta_dependencies(const std::vector<syntax::item>& items,
                                                               const declarations& declared);

}  // namespace gpulog::sema
