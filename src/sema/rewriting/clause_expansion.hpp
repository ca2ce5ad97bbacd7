#pragma once

#include <optional>
#include <string>
#include <vector>

#include "support/diagnostics.hpp"
#include "syntax/ast.hpp"

namespace gpulog::sema {

/// A literal of a conjunction after all enclosing negations are resolved. Points into the syntax tree.
struct flat_literal {
  const syntax::literal* literal = nullptr;  ///< an atom, a constraint or a boolean constant
  bool negated = false;
};

using flat_conjunction = std::vector<flat_literal>;

/// Converts the body to disjunctive normal form: resolves groups and negated groups with De Morgan's laws. A clause
/// without a body yields one empty conjunction.
/// @return nothing after a reported error if the form is too large
/// @param inlined the relations whose inlining made the body, for the message
[[nodiscard]] std::optional<std::vector<flat_conjunction>> expand_body(
    const std::vector<syntax::conjunction>& alternatives, const source_span& clause, diagnostics& diagnostics,
    const std::vector<std::string>& inlined = {});

}  // namespace gpulog::sema
