#pragma once

#include "plan/rules/normalized_rule.hpp"

namespace gpulog::plan {

/// `p(x), x = range(a,b)`: where an atom binds the result of a range in steps of one, its bounds are compared with the
/// value, which otherwise each value of the range would be. In aggregates, too.
void compare_bounds(normalized_rule& rule);

}  // namespace gpulog::plan
