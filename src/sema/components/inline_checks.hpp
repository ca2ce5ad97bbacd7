#pragma once

#include <vector>

#include "sema/types/declarations.hpp"
#include "support/diagnostics.hpp"
#include "syntax/ast.hpp"

namespace gpulog::sema {

/// Reports uses of inline relations that Soufflé rejects: in aggregates, with counters, and negated atoms whose body or
/// underscore would introduce variables.
void check_inlining(const std::vector<syntax::item>& items, const declarations& declared, diagnostics& diagnostics);

}  // namespace gpulog::sema
