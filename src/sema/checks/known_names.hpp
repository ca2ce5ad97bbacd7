#pragma once

#include <map>
#include <string>
#include <vector>

#include "support/diagnostics.hpp"
#include "syntax/ast.hpp"

namespace gpulog::sema {

/// Warns about unknown parameters of directives and unknown pragmas, which are usually misspelled.
/// @param pragmas pragmas of the command line, which have no source location
void warn_of_unknown_names(const std::vector<syntax::item>& items, const std::map<std::string, std::string>& pragmas,
                           diagnostics& diagnostics);

}  // namespace gpulog::sema
