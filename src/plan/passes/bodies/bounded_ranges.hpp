#pragma once

#include "plan/rules/normalized_rule.hpp"

namespace gpulog::plan {

/// `p(x), x = range(a,b)`: if an atom binds the result of a range with step 1 or -1, compares the value with the two
/// bounds instead of with each value of the range. Also in aggregates.
void compare_bounds(normalized_rule& rule);

}  // namespace gpulog::plan
