#pragma once

#include <vector>

#include "sema/program.hpp"
#include "support/diagnostics.hpp"

namespace gpulog::sema {

/// Computes dependencies and strata of a program from its rules. Unfolds monotone aggregates inside a cycle
/// (sema/aggregates/recursive_aggregates.hpp). A negation or other aggregate inside a cycle is an error, reported once
/// per strongly connected component.
/// @param further additional dependencies, which no rule contains
void stratify(program& program, const std::vector<dependency>& further, diagnostics& diagnostics);

/// Returns the dependencies that no rule contains.
[[nodiscard]] std::vector<dependency> further_dependencies(const program& program);

/// Stratifies a program again after its rules were rewritten. Aggregates are unchanged, and no error is reported.
/// @return by stratum: whether its cycle contains a negation or an aggregate
std::vector<bool> stratify_again(program& program, const std::vector<dependency>& further);

}  // namespace gpulog::sema
