#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "plan/cost/cost_model.hpp"
#include "plan/plan.hpp"
#include "plan/rules/normalized_rule.hpp"
#include "plan/versions/version_builder.hpp"

namespace gpulog::plan {

/// A subsumption whose version is still being built; finish() moves the version into `planned`.
struct subsumption_builder {
  subsumption planned;
  version_builder version;
};

/// @param rule a subsumption in the form of program::subsumptions in sema/program.hpp
/// @param tested by number of the atom: whether the atom may find removed rows
[[nodiscard]] subsumption_builder build_subsumption(const normalized_rule& rule, std::vector<bool> tested,
                                                    const cost_model& costs, const std::vector<std::uint32_t>& arities);

/// Returns the equivalent best_of_key if the subsumption only compares one column of tuples that are equal in all other
/// columns.
[[nodiscard]] std::optional<best_of_key> best_of(const subsumption_builder& made, std::uint32_t arity);

/// Returns the finished version without unread columns.
[[nodiscard]] subsumption finish(subsumption_builder made);

}  // namespace gpulog::plan
