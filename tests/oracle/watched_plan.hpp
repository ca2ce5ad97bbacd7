#pragma once

#include <algorithm>
#include <cstdint>

#include "oracle/random_program.hpp"
#include "plan/planner.hpp"

/// Plans that drop restrictions by demand at run time, regardless of the measured demand.
namespace gpulog::oracle {

/// Returns options for programs that read relations of the same layer at given keys, some with equivalence relations.
inline random_program_options shape_of_restricted_programs(std::uint64_t seed) {
  random_program_options shape;
  shape.guards = 70;
  shape.layers = 2;
  shape.largest_arity = 3;
  if (seed % 5 == 4) shape.equivalences = 50;
  return shape;
}

/// @param least_rows rows that rules read before a stratum drops its restrictions: more rows, later
inline plan::program make_watched_plan(const sema::program& source, std::uint64_t least_rows) {
  plan::program plan =
      plan::make_plan(source, {}, {.modes = {{"magic-sets", tuning_mode::always}}, .watches_magic_sets = true});
  for (plan::stratum& stratum : plan.strata) {
    if (!stratum.watch) continue;
    stratum.watch->largest_share = stratum.watch->largest_row_wise_share = -1;
    stratum.watch->least_rows = least_rows;
    stratum.watch->largest_joined_share = 1;
  }
  return plan;
}

inline bool is_watched(const plan::program& plan) {
  return std::any_of(plan.strata.begin(), plan.strata.end(),
                     [](const plan::stratum& stratum) { return stratum.watch.has_value(); });
}

}  // namespace gpulog::oracle
