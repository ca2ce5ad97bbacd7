#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "plan/cost/cost_model.hpp"
#include "plan/plan.hpp"
#include "plan/rules/normalized_rule.hpp"
#include "plan/versions/version_builder.hpp"

namespace gpulog::plan {

/// A subsumption whose version is still built, to be moved into it when it is finished.
struct subsumption_builder {
  subsumption planned;
  version_builder version;
};

/// @param rule a subsumption as program::subsumptions in sema/program.hpp has them
/// @param tested by number of the atom: atoms that may find rows which were taken away
[[nodiscard]] subsumption_builder build_subsumption(const normalized_rule& rule, std::vector<bool> tested,
                                                    const cost_model& costs, const std::vector<std::uint32_t>& arities);

/// What the subsumption amounts to when it only compares one column of tuples that are equal in all others.
[[nodiscard]] std::optional<best_of_key> best_of(const subsumption_builder& made, std::uint32_t arity);

/// The finished version without columns that nobody reads.
[[nodiscard]] subsumption finish(subsumption_builder made);

}  // namespace gpulog::plan
