#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "plan/rules/normalized_rule.hpp"

/// What rules say twice. Disjunctions and inline relations, once they are multiplied out, leave many rules with the
/// same atoms in them and many that are the same.
namespace gpulog::plan {

class planning;
struct stratum_rules;

/// Drops atoms, negations and conditions that stand in the rule before. Not in aggregates, where a second atom changes
/// what is counted, and not where `.plan` numbers the atoms.
void drop_repeated_literals(normalized_rule& rule);

/// Drops rules that are the same as one before, but for the names of their variables. @return how many
[[nodiscard]] std::size_t drop_repeated_rules(std::vector<normalized_rule>& rules);

/// The same for the plain rules of a stratum.
void drop_repeated_rules_of(planning& shared, stratum_rules& stratum);

/// Equal for two rules only if they are the same but for the names of variables and the order of literals. Nothing for
/// rules whose every evaluation counts, and for those with aggregates or ranges.
[[nodiscard]] std::optional<std::vector<std::uint64_t>> rule_key(const normalized_rule& rule);

}  // namespace gpulog::plan
