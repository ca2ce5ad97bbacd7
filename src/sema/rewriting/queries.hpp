#pragma once

#include <cstddef>
#include <string>

#include "sema/program.hpp"
#include "sema/types/clause_types.hpp"
#include "support/diagnostics.hpp"
#include "syntax/ast.hpp"

namespace gpulog::sema {

/// Returns a query as a rule, `query 1(x) :- reach("a",x)`, with a column for each variable of the body, in the order
/// of the text. Variables inside aggregates and variables that begin with an underscore have no column. Programs cannot
/// contain such a name.
/// @param number from 1
[[nodiscard]] syntax::clause clause_of(const syntax::query& asked, std::size_t number);

/// Returns the query as written, on one line.
[[nodiscard]] std::string text_of(const syntax::query& asked);

/// Sets the types of the columns of a query's relation from the variables, unless already set. Reports an error and
/// returns false if another alternative of the body has different types, or records without a type.
[[nodiscard]] bool take_types(relation& asked, const syntax::atom& head, const clause_types& types,
                              diagnostics& diagnostics);

/// Removes .output and .printsize, so that only relations needed by queries are evaluated.
void leave_out_outputs(program& analysed);

}  // namespace gpulog::sema
