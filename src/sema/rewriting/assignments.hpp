#pragma once

#include <vector>

#include "sema/program.hpp"

namespace gpulog::sema {

/// Returns whether a match of the aggregate's body is an assignment of the named variables rather than a combination of
/// tuples. This holds for bodies with several atoms, with an aggregate or a range inside, or with a single atom that
/// repeats a variable, as in Soufflé, which creates a relation of the named variables for such bodies. The decision
/// depends on the text, not on equalities.
[[nodiscard]] bool counts_assignments(const aggregate& folded, const std::vector<variable>& variables);

/// Returns whether an atom of the body has an unnamed column, or a record with an unnamed field.
[[nodiscard]] bool leaves_unnamed(const atom& read, const std::vector<literal>& body,
                                  const std::vector<variable>& variables);

}  // namespace gpulog::sema
