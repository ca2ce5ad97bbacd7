#pragma once

#include <vector>

#include "support/diagnostics.hpp"
#include "syntax/ast.hpp"

namespace gpulog::sema {

/// Returns whether a program declares or instantiates components.
[[nodiscard]] bool has_components(const std::vector<syntax::item>& items);

/// Returns the program without components: each `.init name = Component<types>` is replaced by the content of the
/// component and of its bases, with relations and types renamed to "name.relation" and type parameters substituted.
/// Names are looked up in the instance, then in the enclosing instances, then in the program.
[[nodiscard]] std::vector<syntax::item> instantiate_components(const std::vector<syntax::item>& items,
                                                               diagnostics& diagnostics);

}  // namespace gpulog::sema
