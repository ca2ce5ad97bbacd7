#pragma once

#include <set>
#include <string>
#include <unordered_set>
#include <vector>

#include "sema/program.hpp"
#include "support/diagnostics.hpp"
#include "syntax/ast.hpp"

namespace gpulog::sema {

/// Warns about items that are valid but probably not intended: relations that nothing reads, rules that can never fire,
/// bodies without common variables, and rules that occur twice. A place in a component is reported if all instances
/// agree.
/// @param items without components
/// @param program the same program, with declared relations and directives
/// @param filled relations filled by the caller
/// @param suppressed relations of .pragma "suppress-warnings", or "*": not reported as unread
void warn_of_suspicious_items(const std::vector<syntax::item>& items, const program& program,
                              const std::set<std::string>& filled, const std::unordered_set<std::string>& suppressed,
                              diagnostics& diagnostics);

}  // namespace gpulog::sema
