#pragma once

#include <functional>

#include "sema/program.hpp"

namespace gpulog::sema {

/// Turns the matches of recursive aggregates into matches of the rule.
void unfold_aggregates(rule& changed, const std::function<bool(const aggregate&)>& is_recursive);

}  // namespace gpulog::sema
