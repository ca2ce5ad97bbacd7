#pragma once

#include "support/diagnostics.hpp"
#include "syntax/ast.hpp"

namespace gpulog::sema {

/// Checks the number of arguments of a functor of the language, and the first argument of a `format`.
/// @param term the call
/// @return whether nothing was reported
[[nodiscard]] bool check_call_form(const syntax::argument& term, diagnostics& diagnostics);

}  // namespace gpulog::sema
