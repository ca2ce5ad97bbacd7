#include <algorithm>
#include <cstddef>
#include <vector>

#include "exec/hybrid/hybrid_executor.hpp"

/// Which strata each side may have to run.
namespace gpulog::exec {

std::vector<bool> strata_of_host(const plan::program& program, const placement_rules& rules) {
  std::vector<bool> strata(program.strata.size());
  for (std::size_t s = 0; s < strata.size(); ++s) {
    const bool may_begin_here = rules.move_at && can_be_moved(program, program.strata[s]);
    // Includes strata forced onto the device, because the device may be unavailable.
    strata[s] = !rules.why_not_on_device[s].empty() || may_begin_here || rules.costs.has_value();
  }
  return strata;
}

std::vector<bool> strata_of_device(const plan::program& program, const placement_rules& rules) {
  std::vector<bool> strata(program.strata.size());
  for (std::size_t s = 0; s < strata.size(); ++s) strata[s] = rules.why_not_on_device[s].empty();
  return strata;
}

bool can_be_moved(const plan::program& program, const plan::stratum& stratum) {
  return stratum.recursive && stratum.subsumptions.empty() &&
         std::all_of(stratum.relations.begin(), stratum.relations.end(), [&](relation_id id) {
           const plan::relation& relation = program.relations[id.value];
           return relation.choice_domains.empty() && !relation.best && !relation.is_equivalence;
         });
}

}  // namespace gpulog::exec
