#pragma once

#include <vector>

#include "sema/types/declarations.hpp"
#include "support/diagnostics.hpp"
#include "syntax/ast.hpp"

namespace gpulog::sema {

/// Reports uses of inline relations that Soufflé refuses: in aggregates, with counters, and negated where a body or an
/// underscore would bring in variables.
void check_inlining(const std::vector<syntax::item>& items, const declarations& declared, diagnostics& diagnostics);

}  // namespace gpulog::sema
