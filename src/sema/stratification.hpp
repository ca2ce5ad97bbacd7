#pragma once

#include "sema/program.hpp"
#include "support/diagnostics.hpp"

namespace gpulog::sema {

/// Fills dependencies and strata of a program from its rules. A negation inside a cycle is an error, one for each
/// strongly connected component.
void stratify(program& program, diagnostics& diagnostics);

}  // namespace gpulog::sema
