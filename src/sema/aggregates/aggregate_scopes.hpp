#pragma once

#include <optional>

#include "support/diagnostics.hpp"
#include "syntax/ast.hpp"

namespace gpulog::sema {

/// Renames the variables that are local to an aggregate, so that a name that occurs inside and outside an aggregate
/// means one variable, bound outside. A witness is a variable that only a min or max aggregate binds and that the
/// clause uses outside the aggregate: a copy of the aggregate's body, added to the same scope, binds the witness for
/// matches with the aggregate's result. If an enclosing scope uses the witness, both the aggregate and the copy move to
/// that scope. Reports witnesses of all further kinds of aggregates.
/// @return nothing if the clause has no aggregate
[[nodiscard]] std::optional<syntax::clause> separate_scopes(const syntax::clause& clause, diagnostics& diagnostics);

/// The clause with each variable that is local to an aggregate under a name of its own, and no other change. Nothing
/// when the clause has no aggregate.
[[nodiscard]] std::optional<syntax::clause> rename_local_variables(const syntax::clause& clause);

}  // namespace gpulog::sema
