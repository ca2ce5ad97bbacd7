#pragma once

#include <optional>

#include "support/diagnostics.hpp"
#include "syntax/ast.hpp"

namespace gpulog::sema {

/// The clause with each variable that is local to an aggregate under a name of its own, so that a name that occurs
/// inside and outside of an aggregate is one variable, bound outside. Variables that only a min or max aggregate binds,
/// used outside of it (witnesses), are bound by a copy of the aggregate's body beside it that holds for its result;
/// where they are used outside of an aggregate around it, too, both stand beside that one.
/// Reports witnesses of other aggregates. Nothing when the clause has no aggregate.
[[nodiscard]] std::optional<syntax::clause> separate_scopes(const syntax::clause& clause, diagnostics& diagnostics);

/// The clause with each variable that is local to an aggregate under a name of its own, and no other change. Nothing
/// when the clause has no aggregate.
[[nodiscard]] std::optional<syntax::clause> rename_local_variables(const syntax::clause& clause);

}  // namespace gpulog::sema
