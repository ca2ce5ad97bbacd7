#pragma once

#include <cstddef>
#include <map>
#include <vector>

#include "exec/executor.hpp"
#include "gpulog/statistics.hpp"
#include "plan/reoptimizer.hpp"

/// Statistics of a run that concern its plan: steps with their rows, indexes, and the sizes that the planner assumed.
namespace gpulog::detail {

/// Sizes that the planner assumed, at the start and before reordered strata.
class plan_record {
 public:
  void note_planned(const plan::reoptimizer& planner);
  void note_reordered(const plan::reoptimizer& planner, std::size_t stratum);

  using known_size = plan::reoptimizer::known_size;
  using sizes = std::map<relation_id, known_size>;
  /// Returns the size assumed before the run.
  [[nodiscard]] known_size planned(relation_id relation) const { return planned_[relation.value]; }
  /// Returns the sizes of the relations that a reordered stratum reads or derives, before the stratum; nullptr: the
  /// stratum was not reordered.
  [[nodiscard]] const sizes* reordered(std::size_t stratum) const;

 private:
  std::vector<known_size> planned_;  ///< by relation
  std::map<std::size_t, sizes> reordered_;
};

/// Returns the versions of a stratum in the executor's numbering.
[[nodiscard]] std::vector<const plan::rule_version*> versions_of(const plan::stratum& stratum);

/// Adds rules, indexes and sizes to the statistics of a stratum. `figures` already contains the rules with their
/// measurements.
void add_plan_figures(const plan::reoptimizer& planner, const plan_record& record, std::size_t number,
                      const exec::stratum_statistics& measured, stratum_statistics& figures);

/// Counts for each index of the strata from `first` on the rules of the program, by location, that search the index.
void count_index_rules(const plan::program& plan, std::vector<stratum_statistics>& strata, std::size_t first);

}  // namespace gpulog::detail
