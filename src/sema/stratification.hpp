#pragma once

#include <vector>

#include "sema/program.hpp"
#include "support/diagnostics.hpp"

namespace gpulog::sema {

/// Fills dependencies and strata of a program from its rules. Aggregates inside a cycle are unfolded where they are
/// monotone (sema/aggregates/recursive_aggregates.hpp). A negation or another aggregate inside a cycle is an error, one
/// for each strongly connected component. `further` dependencies are none of the rules'.
void stratify(program& program, const std::vector<dependency>& further, diagnostics& diagnostics);

/// Dependencies that no rule shows.
[[nodiscard]] std::vector<dependency> further_dependencies(const program& program);

/// The same for a program that was stratified before its rules were rewritten. Their aggregates stay as they are, and
/// nothing is reported. @return by stratum: whether a negation or an aggregate stands inside its cycle
std::vector<bool> stratify_again(program& program, const std::vector<dependency>& further);

}  // namespace gpulog::sema
