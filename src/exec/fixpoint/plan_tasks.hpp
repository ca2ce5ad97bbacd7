#pragma once

#include <cstdint>
#include <set>
#include <vector>

#include "kernels/products/product_task.hpp"
#include "kernels/row_wise/row_wise_task.hpp"
#include "kernels/search/numbered_task.hpp"
#include "plan/plan.hpp"
#include "storage/symbols/wide_values.hpp"

/// Extracts from the plan, before the run, data that does not depend on the machine.
namespace gpulog::exec {

/// Returns the numbers of the indexes that versions search.
/// @param with_others whether matches use their alternative searches (plan::match::others)
[[nodiscard]] std::set<std::uint32_t> indexes_read(const std::vector<plan::rule_version>& versions, bool with_others);
[[nodiscard]] std::set<std::uint32_t> indexes_read(const std::vector<plan::subsumption>& subsumptions);

/// Returns whether the version's aggregates and first matches have the same results in every iteration of its stratum.
/// @param changing relations that gain rows during the iterations
[[nodiscard]] bool folds_the_same(const plan::rule_version& version, const std::vector<relation_id>& changing);

[[nodiscard]] kernels::numbered_task numbered_task_of(const plan::decomposition& planned);

/// @param with_first whether the task includes the rules of `once`
[[nodiscard]] kernels::product_task product_task_of(const plan::product_recursion& planned, bool with_first);

/// Returns the task of a stratum with row-wise evaluation.
/// @param wide nullptr with words of 32 bits
[[nodiscard]] kernels::row_wise_task row_wise_task_of(const plan::stratum& stratum, storage::wide_values* wide);
/// Returns the task of one or more versions of a phase that can be evaluated row by row, with the same head and the
/// same comparisons.
[[nodiscard]] kernels::row_wise_task row_wise_task_of(const std::vector<const plan::rule_version*>& versions,
                                                      storage::wide_values* wide);
/// Whether all are comparisons of numbers that rows of values can be filtered by.
/// @param orders_words whether by their order, too
[[nodiscard]] bool compare_words(const std::vector<plan::filter>& filters, bool orders_words);

[[nodiscard]] kernels::row_part part_of(plan::part rows);

}  // namespace gpulog::exec
