#pragma once

#include "plan/normalized_rule.hpp"

namespace gpulog::plan {

/// `p(x), x = range(1,10)`: where an atom binds the result of a range between constants, in steps of one, its bounds
/// are compared with the value, which otherwise each value of the range would be. In aggregates, too.
void compare_bounds(normalized_rule& rule);

}  // namespace gpulog::plan
