#pragma once

#include <cstdint>
#include <set>
#include <vector>

#include "kernels/row_wise/row_wise_task.hpp"
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

/// @param with_first whether the task includes the rules of `once`
[[nodiscard]] row_equations product_task_of(const row_equations& planned, bool with_first);

/// @param wide nullptr with words of 32 bits
[[nodiscard]] kernels::row_wise_task row_wise_task_of(const row_equations& planned, storage::wide_values* wide);
/// Returns the task of one or more versions of a phase that can be evaluated row by row, with the same head and the
/// same comparisons.
[[nodiscard]] kernels::row_wise_task row_wise_task_of(const std::vector<const plan::rule_version*>& versions,
                                                      storage::wide_values* wide);
/// Returns whether filters compare numbers that are words, or codes of words with 64 bits.
/// @param orders_words whether the machine also compares codes by the order of their values
[[nodiscard]] bool compares_words(const std::vector<row_filter>& filters, bool orders_words);

}  // namespace gpulog::exec
