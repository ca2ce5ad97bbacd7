#pragma once

#include <vector>

#include "plan/plan.hpp"

namespace gpulog::plan {

class planning;

/// Relations of the stratum, of one or two columns, that take no value which is not in a column of another relation or
/// in the program's text when the stratum begins: no operator makes one. Where those values are small, a tuple has a
/// place in a bit matrix.
[[nodiscard]] std::vector<relation_domain> find_domains(const program& plan, const stratum& considered);

/// find_domains, for all strata.
void find_dense_domains(planning& shared);

}  // namespace gpulog::plan
