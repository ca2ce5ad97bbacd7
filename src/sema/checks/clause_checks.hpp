#pragma once

#include "sema/rewriting/flat_clause.hpp"
#include "sema/types/declarations.hpp"
#include "support/diagnostics.hpp"

/// Checks of a clause that need no types.
namespace gpulog::sema {

/// Names, arities, underscores and unsupported constructs of the whole clause, as written. False when the clause cannot
/// be analysed further.
/// @param before the clause before it, if any: a fact may be meant as a part of its body
[[nodiscard]] bool check_form(const syntax::clause& clause, const declarations& declared, diagnostics& diagnostics,
                              const syntax::clause* before = nullptr);

/// Every variable has to be bound by a positive atom or by an equality with something bound.
[[nodiscard]] bool check_groundedness(const flat_clause& clause, const declarations& declared,
                                      diagnostics& diagnostics);

/// Warnings for variables that occur once, and for `_x` that occur more than once.
void warn_of_singletons(const syntax::clause& clause, diagnostics& diagnostics);

}  // namespace gpulog::sema
