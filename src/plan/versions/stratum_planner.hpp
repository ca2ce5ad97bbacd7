#pragma once

#include <memory>
#include <vector>

#include "plan/planning.hpp"
#include "plan/rules/stratum_rules.hpp"

/// From rules to versions: which strata there are, in which order, and the semi-naive versions of each rule.
namespace gpulog::plan {

/// Orders a body, and makes operators of it.
/// @param forced positions of all atoms, from `.plan`; nullptr: by cost
[[nodiscard]] version_builder order_version(planning& shared, const normalized_rule& rule, const version_parts& parts,
                                            const std::vector<std::uint32_t>* forced);

/// The same for an order that is given.
[[nodiscard]] version_builder build_ordered(planning& shared, const normalized_rule& rule, const version_parts& parts,
                                            schedule order);

/// Adds the semi-naive versions of a recursive rule to the last phase of the loop.
void plan_loop_rule(planning& shared, const std::shared_ptr<const normalized_rule>& rule, stratum_builder& target);

/// Plans the rules of planning::before, of relations without recursion, each relation in a stratum of its own. Rules of
/// one relation stand together.
void plan_strata_before(planning& shared);

/// Plans a stratum, and those that its restrictions leave to be planned behind it.
/// @param subsumptions of its relations
void plan_stratum(planning& shared, stratum_rules rules, const std::vector<normalized_rule>& subsumptions);

}  // namespace gpulog::plan
