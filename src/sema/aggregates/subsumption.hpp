#pragma once

#include "sema/program.hpp"
#include "syntax/ast.hpp"

namespace gpulog::sema {

/// Returns `dominated <= dominating :- body` as the clause `dominated :- dominated, dominating, body`. The head and the
/// first atom contain only variables: the written variables, or new variables with an equality.
[[nodiscard]] syntax::clause clause_of(const syntax::subsumption& written);

/// Returns the subsumption as written, with both atoms in the body and without a head, for syntactic checks.
[[nodiscard]] syntax::clause body_of(const syntax::subsumption& written);

/// Converts the rule of such a clause into the form that program::subsumptions requires.
void finish_subsumption(const program& program, rule& lowered);

}  // namespace gpulog::sema
