#pragma once

#include <optional>

#include "sema/types/declarations.hpp"
#include "syntax/ast.hpp"

namespace gpulog::sema {

/// The clause without comparisons of records that nothing gives a type: `[a, b] = [c, d]` becomes `a = c, b = d`, what
/// `x = [a, b]` says of a variable stands for it everywhere in the body, and `[a, b] != [c, d]` becomes `a != c; b !=
/// d`. Nothing when there are none. The names of relations have to be known. Reports an error, and gives nothing, when
/// that makes the clause too large.
[[nodiscard]] std::optional<syntax::clause> resolve_anonymous_records(const syntax::clause& clause,
                                                                      const declarations& declared,
                                                                      diagnostics& diagnostics);

}  // namespace gpulog::sema
