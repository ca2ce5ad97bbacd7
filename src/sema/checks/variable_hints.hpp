#pragma once

#include <string>

#include "sema/rewriting/clause_expansion.hpp"
#include "sema/types/declarations.hpp"
#include "support/diagnostics.hpp"
#include "syntax/ast.hpp"

/// What a variable that has no value may be meant to be.
namespace gpulog::sema {

/// A hint that the name is a branch of an algebraic data type; empty for other names.
[[nodiscard]] std::string hint_about_branch(const std::string& name, const declarations& declared);

/// Why the literals with a variable give it no value. @param name as it is written
[[nodiscard]] std::string hint_about_value(const flat_conjunction& body, const syntax::variable& variable,
                                           const std::string& name);

/// Completes the error about a variable in a fact.
/// @param before the clause before the fact, if any
void add_hint_about_fact(const std::string& variable, const syntax::atom& fact, const syntax::clause* before,
                         const declarations& declared, diagnostics::entry& error);

}  // namespace gpulog::sema
