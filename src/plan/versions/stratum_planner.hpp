#pragma once

#include <memory>
#include <vector>

#include "plan/planning.hpp"
#include "plan/rules/stratum_rules.hpp"

/// From rules to versions: the strata, their order, and the semi-naive versions of each rule.
namespace gpulog::plan {

/// Orders a body and converts it to operators.
/// @param forced positions of all atoms, from `.plan`; nullptr: by cost
[[nodiscard]] version_builder order_version(planning& shared, const normalized_rule& rule, const version_parts& parts,
                                            const std::vector<std::uint32_t>* forced);

/// Converts a body with a given order to operators.
[[nodiscard]] version_builder build_ordered(planning& shared, const normalized_rule& rule, const version_parts& parts,
                                            schedule order);

/// Adds the semi-naive versions of a recursive rule to the last phase of the loop.
void plan_loop_rule(planning& shared, const std::shared_ptr<const normalized_rule>& rule, stratum_builder& target);

/// Plans the rules of planning::before, of relations without recursion, with a separate stratum per relation. Rules of
/// a relation must be adjacent.
void plan_strata_before(planning& shared);

/// Plans a stratum and the later strata that follow from its restrictions.
/// @param subsumptions subsumptions of its relations
void plan_stratum(planning& shared, stratum_rules rules, const std::vector<normalized_rule>& subsumptions);

}  // namespace gpulog::plan
