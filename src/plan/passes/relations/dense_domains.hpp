#pragma once

#include <vector>

#include "plan/plan.hpp"

namespace gpulog::plan {

class planning;

/// Returns the relations of the stratum, of one or two columns, whose values all occur in columns of other relations or
/// in the program's text when the stratum begins: no operator computes new values. If these values are small, a tuple
/// has a position in a bit matrix.
[[nodiscard]] std::vector<relation_domain> find_domains(const program& plan, const stratum& considered);

/// Applies find_domains to all strata.
void find_dense_domains(planning& shared);

}  // namespace gpulog::plan
