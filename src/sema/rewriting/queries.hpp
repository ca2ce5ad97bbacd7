#pragma once

#include <cstddef>
#include <string>

#include "sema/program.hpp"
#include "sema/types/clause_types.hpp"
#include "support/diagnostics.hpp"
#include "syntax/ast.hpp"

namespace gpulog::sema {

/// The rule that a query is: `query 1(x) :- reach("a",x)`, with a column for each variable of the body, in the order of
/// the text. Those of aggregates have none, nor those that begin with an underscore. No program can write the name.
/// @param number from 1
[[nodiscard]] syntax::clause clause_of(const syntax::query& asked, std::size_t number);

/// The query in one line, as it was written.
[[nodiscard]] std::string text_of(const syntax::query& asked);

/// Gives the columns of a query's relation the types of their variables, unless they have some. False when those of
/// another alternative of the body are different, or are records of which no type is known, which is reported.
[[nodiscard]] bool take_types(relation& asked, const syntax::atom& head, const clause_types& types,
                              diagnostics& diagnostics);

/// What no query needs is not needed: .output and .printsize go.
void leave_out_outputs(program& analysed);

}  // namespace gpulog::sema
