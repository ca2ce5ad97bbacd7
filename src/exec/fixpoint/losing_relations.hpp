#pragma once

#include <utility>
#include <vector>

#include "kernels/steps/functor_table.hpp"
#include "plan/plan.hpp"
#include "storage/representation/best_rows.hpp"

namespace gpulog::exec {

/// Prepares an empty relation with subsumptions to lose rows.
/// @tparam KeepsBounds whether the machine has tuple sets that keep bounds; without them the relation's stratum runs
/// elsewhere
template <bool KeepsBounds, class Relation>
void prepare_losses(Relation& target, const plan::relation& planned, const kernels::functor_table* functors) {
  const auto& best = planned.best;
  if (!best) return target.make_erasable();
  if (best->bounds.empty()) {
    const comparison_op better = best->better;
    const bool larger = better == comparison_op::greater_number || better == comparison_op::greater_unsigned ||
                        better == comparison_op::greater_float;
    return target.keep_best(best->column, {planned.kinds[best->column], larger, nullptr});
  }
  if constexpr (KeepsBounds) {
    std::vector<storage::bounded_column> columns;
    for (const auto& [column, functor] : best->bounds) {
      columns.push_back({column, [functors, number = static_cast<word>(functor)](word first, word second) {
                           word result = 0;
                           functors->call({&number, &first, &second}, 1, &result);
                           return result;
                         }});
    }
    target.keep_bounds(std::move(columns));
  } else {
    target.make_erasable();
  }
}

}  // namespace gpulog::exec
