#pragma once

#include <map>
#include <string>
#include <vector>

#include "support/diagnostics.hpp"
#include "syntax/ast.hpp"

namespace gpulog::sema {

/// Warns of parameters of directives and of pragmas that mean nothing: most are misspelled.
/// @param pragmas those of the command line, which have no place
void warn_of_unknown_names(const std::vector<syntax::item>& items, const std::map<std::string, std::string>& pragmas,
                           diagnostics& diagnostics);

}  // namespace gpulog::sema
