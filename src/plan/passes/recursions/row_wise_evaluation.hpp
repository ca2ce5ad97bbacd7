#pragma once

#include <optional>

#include "plan/plan.hpp"

namespace gpulog::plan {

class planning;

/// Whether a relation can be made of its rows: two columns, and all that is found stays.
[[nodiscard]] bool has_rows(const relation& made);

/// Whether a stratum's rules can be evaluated for one value of the head's first column at a time; nothing when they
/// can't. They can where the stratum has no loop, its relation two columns, and each rule is a join of two relations in
/// one variable, or reads one: R(x,y) :- a(x,w), b(w,y), with comparisons of x and y that all rules have in common.
[[nodiscard]] std::optional<row_wise_evaluation> find_row_wise_evaluation(const program& plan,
                                                                          const stratum& considered);

/// What a version does with one or two relations, whatever else is there.
[[nodiscard]] std::optional<row_wise_version> find_version_source(const program& plan, const rule_version& version);

/// Whether one version can: a join of two relations in one variable, whatever else its stratum does. The relation may
/// have results before it.
[[nodiscard]] std::optional<row_wise_version> find_row_wise_version(const program& plan, const stratum& considered,
                                                                    const rule_version& version);

/// Both, for all strata.
void find_row_wise_evaluations(planning& shared);

}  // namespace gpulog::plan
