#pragma once

#include "sema/rewriting/flat_clause.hpp"
#include "sema/types/declarations.hpp"
#include "support/diagnostics.hpp"

/// Checks of clauses that do not depend on types.
namespace gpulog::sema {

/// Checks names, arities, underscores and unsupported constructs of the whole clause, as in the source.
/// @return false if the clause cannot be analysed further
/// @param before the clause before it, if any: a fact may be meant as a part of its body
[[nodiscard]] bool check_form(const syntax::clause& clause, const declarations& declared, diagnostics& diagnostics,
                              const syntax::clause* before = nullptr);

/// Checks that each variable is bound by a positive atom or by an equality with bound variables.
[[nodiscard]] bool check_groundedness(const flat_clause& clause, const declarations& declared,
                                      diagnostics& diagnostics);

/// Warns about variables that occur once and about `_x` that occurs more than once.
void warn_of_singletons(const syntax::clause& clause, diagnostics& diagnostics);

}  // namespace gpulog::sema
