#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "support/diagnostics.hpp"
#include "syntax/ast.hpp"

namespace gpulog::sema {

/// Warns about unknown parameters of directives and unknown pragmas, which are usually misspelled.
/// @param pragmas pragmas of the command line, which have no source location
void warn_of_unknown_names(const std::vector<syntax::item>& items, const std::map<std::string, std::string>& pragmas,
                           diagnostics& diagnostics);

/// Returns the parameters of directives, first those that some format or directive reads, then those of Soufflé.
[[nodiscard]] const std::vector<std::string>& known_parameters();

/// Returns the values of a parameter that accepts few values; otherwise no values.
[[nodiscard]] std::vector<std::string_view> known_values(std::string_view parameter);

}  // namespace gpulog::sema
