#pragma once

#include <optional>

#include "sema/types/declarations.hpp"
#include "syntax/ast.hpp"

namespace gpulog::sema {

/// Removes comparisons of records without a type: `[a, b] = [c, d]` becomes `a = c, b = d`; a variable with `x = [a,
/// b]` is replaced by the record everywhere in the body; and `[a, b] != [c, d]` becomes `a != c; b != d`. Returns
/// nothing if the clause has no such comparison. The names of relations must be known. Reports an error and returns
/// nothing if the clause would become too large.
[[nodiscard]] std::optional<syntax::clause> resolve_anonymous_records(const syntax::clause& clause,
                                                                      const declarations& declared,
                                                                      diagnostics& diagnostics);

}  // namespace gpulog::sema
