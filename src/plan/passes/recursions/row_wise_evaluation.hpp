#pragma once

#include <optional>

#include "plan/plan.hpp"

namespace gpulog::plan {

class planning;

/// Returns whether a relation can be computed row by row: the relation has two columns and keeps every derived tuple.
[[nodiscard]] bool has_rows(const relation& made);

/// Recognizes a stratum whose rules can be evaluated for one value of the head's first column at a time; returns
/// no value for strata of a different form. The stratum has no loop, the relation has two columns, and each rule joins
/// two relations on one variable, or reads one relation: R(x,y) :- a(x,w), b(w,y), with comparisons of x and y that all
/// rules share.
[[nodiscard]] std::optional<row_wise_evaluation> find_row_wise_evaluation(const program& plan,
                                                                          const stratum& considered);

/// Returns the one or two relations that a version combines, without conditions on the stratum.
[[nodiscard]] std::optional<row_wise_version> find_version_source(const program& plan, const rule_version& version);

/// Recognizes a version that can be evaluated row by row: a join of two relations on one variable, in any stratum. The
/// relation may already have tuples.
[[nodiscard]] std::optional<row_wise_version> find_row_wise_version(const program& plan, const stratum& considered,
                                                                    const rule_version& version);

/// Stores the results of both searches in all strata.
void find_row_wise_evaluations(planning& shared);

}  // namespace gpulog::plan
