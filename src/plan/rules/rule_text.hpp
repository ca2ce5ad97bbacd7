#pragma once

#include <functional>
#include <string>

#include "plan/rules/normalized_rule.hpp"
#include "sema/program.hpp"

namespace gpulog::plan {

using relation_namer = std::function<std::string(relation_id)>;

/// Returns the source text of a rule that the planner created or changed, without aggregates and ranges.
[[nodiscard]] std::string text_of(const normalized_rule& rule, const sema::program& source,
                                  const relation_namer& name_of);

}  // namespace gpulog::plan
