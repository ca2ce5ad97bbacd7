#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "plan/rules/normalized_rule.hpp"

/// Removes repetitions within and between rules. The expansion of disjunctions and inline relations produces many rules
/// with repeated atoms and many equal rules.
namespace gpulog::plan {

class planning;
struct stratum_rules;

/// Drops atoms, negations and conditions that repeat an earlier literal of the rule. Leaves aggregates unchanged,
/// because a second atom changes the number of bindings, and atoms of rules with `.plan`, which refers to atoms by
/// number.
void drop_repeated_literals(normalized_rule& rule);

/// Drops rules that equal an earlier rule up to the names of variables.
/// @return number of dropped rules
[[nodiscard]] std::size_t drop_repeated_rules(std::vector<normalized_rule>& rules);

/// Drops repeated rules among the plain rules of a stratum.
void drop_repeated_rules_of(planning& shared, stratum_rules& stratum);

/// Returns a key that two rules share only if the rules are equal up to the names of variables and the order of
/// literals. Empty for rules in which every evaluation counts, and for rules with aggregates or ranges.
[[nodiscard]] std::optional<std::vector<std::uint64_t>> rule_key(const normalized_rule& rule);

}  // namespace gpulog::plan
