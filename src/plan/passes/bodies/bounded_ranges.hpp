#pragma once

#include "plan/rules/normalized_rule.hpp"

namespace gpulog::plan {

/// `p(x), x = range(a,b)`: where an atom binds the result of a range in steps of one, its value is compared with the
/// two bounds. Otherwise each value of the range would be compared with it. In aggregates, too.
void compare_bounds(normalized_rule& rule);

}  // namespace gpulog::plan
