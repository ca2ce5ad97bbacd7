#pragma once

#include <vector>

#include "sema/program.hpp"
#include "support/diagnostics.hpp"

namespace gpulog::sema {

/// Fills dependencies and strata of a program from its rules. Aggregates inside a cycle are unfolded where they are
/// monotone (sema/aggregates/recursive_aggregates.hpp). A negation or another aggregate inside a cycle is an error, one
/// for each strongly connected component. `further` dependencies are none of the rules'.
void stratify(program& program, const std::vector<dependency>& further, diagnostics& diagnostics);

}  // namespace gpulog::sema
