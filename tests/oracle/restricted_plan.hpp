#pragma once

#include <algorithm>
#include <cstdint>
#include <string>

#include "oracle/random_program.hpp"
#include "plan/planner.hpp"

/// Plans with magic sets wherever correct, regardless of the expected demand.
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

inline plan::program make_restricted_plan(const sema::program& source) {
  return plan::make_plan(source, {}, {.modes = {{"magic-sets", tuning_mode::always}}});
}

inline bool is_restricted(const plan::program& plan) {
  return std::any_of(plan.remarks.begin(), plan.remarks.end(), [](const std::string& remark) {
    return remark.find("that the recursion reads (") != std::string::npos;
  });
}

}  // namespace gpulog::oracle
