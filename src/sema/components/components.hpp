#pragma once

#include <vector>

#include "support/diagnostics.hpp"
#include "syntax/ast.hpp"

namespace gpulog::sema {

/// Whether a program declares or instantiates components at all.
[[nodiscard]] bool has_components(const std::vector<syntax::item>& items);

/// The program without components: every `.init name = Component<types>` is replaced by the component's content and its
/// bases', with relations and types renamed to "name.relation" and type parameters substituted. A name is looked up in
/// its instance first, then in the instances around it, then in the program.
[[nodiscard]] std::vector<syntax::item> instantiate_components(const std::vector<syntax::item>& items,
                                                               diagnostics& diagnostics);

}  // namespace gpulog::sema
