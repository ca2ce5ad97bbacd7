#pragma once

#include <vector>

#include "sema/program.hpp"
#include "sema/types/declarations.hpp"
#include "support/diagnostics.hpp"
#include "syntax/ast.hpp"

/// Warnings of --portable: what gpulog accepts and Soufflé does not know (docs/compatibility.md).
namespace gpulog::sema {

/// Warns of functors, formats, parameters and negated atoms of inline relations.
void warn_of_extensions(const std::vector<syntax::item>& items, const declarations& declared, diagnostics& diagnostics);

/// Warns of aggregates over relations of their own recursion.
/// @param component_of by relation: a number that mutually dependent relations share
void warn_of_recursive_aggregates(const program& program, const std::vector<std::uint32_t>& component_of,
                                  diagnostics& diagnostics);

}  // namespace gpulog::sema
