#pragma once

#include "sema/program.hpp"
#include "syntax/ast.hpp"

namespace gpulog::sema {

/// `dominated <= dominating :- body` as the clause `dominated :- dominated, dominating, body`. The head and the first
/// atom have variables only, those of the written arguments or new ones that are equal to them.
[[nodiscard]] syntax::clause clause_of(const syntax::subsumption& written);

/// The same as written, but with both atoms in the body and without a head: for checks of the form.
[[nodiscard]] syntax::clause body_of(const syntax::subsumption& written);

/// Brings the rule of such a clause into the form that program::subsumptions asks for.
void finish_subsumption(const program& program, rule& lowered);

}  // namespace gpulog::sema
