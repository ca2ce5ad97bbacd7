#pragma once

#include <optional>
#include <string>
#include <vector>

#include "support/diagnostics.hpp"
#include "syntax/ast.hpp"

namespace gpulog::sema {

/// A literal of a conjunction, with the negations around it counted out. Points into the syntax tree.
struct flat_literal {
  const syntax::literal* literal = nullptr;  ///< an atom, a constraint or a boolean constant
  bool negated = false;
};

using flat_conjunction = std::vector<flat_literal>;

/// The body in disjunctive normal form: groups and negated groups resolved (De Morgan). A clause without a body gives
/// one empty conjunction. Reports an error and gives nothing when the form is too large.
/// @param inlined the relations whose inlining made the body, for the message
[[nodiscard]] std::optional<std::vector<flat_conjunction>> expand_body(
    const std::vector<syntax::conjunction>& alternatives, const source_span& clause, diagnostics& diagnostics,
    const std::vector<std::string>& inlined = {});

}  // namespace gpulog::sema
