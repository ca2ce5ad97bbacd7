#pragma once

#include <vector>

#include "sema/program.hpp"

namespace gpulog::sema {

/// Whether a match of the aggregate's body is an assignment of its named variables, not a choice of tuples: so it is
/// with several atoms, with an aggregate or a range inside, and where the only atom names a variable twice. As Soufflé
/// has it, which makes a relation of the named variables for such bodies. What counts is the text, not what equalities
/// say.
[[nodiscard]] bool counts_assignments(const aggregate& folded, const std::vector<variable>& variables);

/// Whether an atom of the body has a column without a name, or a record with such a field.
[[nodiscard]] bool leaves_unnamed(const atom& read, const std::vector<literal>& body,
                                  const std::vector<variable>& variables);

}  // namespace gpulog::sema
