#pragma once

#include <cstdint>
#include <set>
#include <variant>
#include <vector>

#include "kernels/products/product_task.hpp"
#include "kernels/row_wise/row_wise_task.hpp"
#include "kernels/search/numbered_task.hpp"
#include "plan/plan.hpp"
#include "storage/symbols/wide_values.hpp"

/// What a fixpoint reads off the plan before it runs: nothing of this depends on the machine.
namespace gpulog::exec {

/// Numbers of the indexes that versions search.
/// @param with_others whether the other searches of a match are made (plan::match::others)
[[nodiscard]] std::set<std::uint32_t> indexes_read(const std::vector<plan::rule_version>& versions, bool with_others);
[[nodiscard]] std::set<std::uint32_t> indexes_read(const std::vector<plan::subsumption>& subsumptions);
/// Whether a version has no results, as it joins or requires a relation without rows.
template <class IsEmpty>
[[nodiscard]] bool requires_empty(const plan::rule_version& version, const IsEmpty& is_empty) {
  std::size_t aggregates = 0;  // around the operator
  for (const plan::operation& one : version.operations) {
    if (std::holds_alternative<plan::fold_begin>(one)) ++aggregates;
    if (std::holds_alternative<plan::fold_end>(one)) --aggregates;
    if (aggregates != 0) continue;
    const auto* const scanned = std::get_if<plan::scan>(&one);
    const auto* const searched = std::get_if<plan::match>(&one);
    const auto* const tested = std::get_if<plan::exists>(&one);
    if ((scanned != nullptr && is_empty(scanned->relation)) || (searched != nullptr && is_empty(searched->relation)) ||
        (tested != nullptr && !tested->negated && is_empty(tested->relation)))
      return true;
  }
  return false;
}

/// Whether what the version's aggregates and first matches give is the same in every iteration of its stratum.
/// @param changing relations that get rows meanwhile
[[nodiscard]] bool folds_the_same(const plan::rule_version& version, const std::vector<relation_id>& changing);

[[nodiscard]] kernels::numbered_task numbered_task_of(const plan::decomposition& planned);

/// @param with_first whether it does what the rules of `once` do, too
[[nodiscard]] kernels::product_task product_task_of(const plan::product_recursion& planned, bool with_first);

/// Of a stratum with a row-wise evaluation. wide: nullptr with words of 32 bits.
[[nodiscard]] kernels::row_wise_task row_wise_task_of(const plan::stratum& stratum, storage::wide_values* wide);
/// Of versions of a phase, one or more, that can be evaluated row-wise with the same head and the same comparisons.
[[nodiscard]] kernels::row_wise_task row_wise_task_of(const std::vector<const plan::rule_version*>& versions,
                                                      storage::wide_values* wide);
/// Whether all are comparisons of numbers that rows of values can be filtered by.
/// @param orders_words whether by their order, too
[[nodiscard]] bool compare_words(const std::vector<plan::filter>& filters, bool orders_words);

[[nodiscard]] kernels::row_part part_of(plan::part rows);

}  // namespace gpulog::exec
