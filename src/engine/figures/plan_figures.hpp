#pragma once

#include <cstddef>
#include <map>
#include <vector>

#include "exec/executor.hpp"
#include "gpulog/statistics.hpp"
#include "plan/reoptimizer.hpp"

/// What the figures of a run say about its plan: steps with their rows, indexes, and what the planner knew.
namespace gpulog::detail {

/// What the planner knew of sizes, and when.
class plan_record {
 public:
  void note_planned(const plan::reoptimizer& planner);
  void note_reordered(const plan::reoptimizer& planner, std::size_t stratum);

  using known_size = plan::reoptimizer::known_size;
  using sizes = std::map<relation_id, known_size>;
  /// Before the run.
  [[nodiscard]] known_size planned(relation_id relation) const { return planned_[relation.value]; }
  /// In front of a stratum that was ordered again, of what it reads and makes; nullptr: it was not.
  [[nodiscard]] const sizes* reordered(std::size_t stratum) const;

 private:
  std::vector<known_size> planned_;  ///< by relation
  std::map<std::size_t, sizes> reordered_;
};

/// Versions of a stratum, as the executor numbers them.
[[nodiscard]] std::vector<const plan::rule_version*> versions_of(const plan::stratum& stratum);

/// Fills in rules, indexes and sizes of a stratum. Its rules are there, with what was measured of each.
void add_plan_figures(const plan::reoptimizer& planner, const plan_record& record, std::size_t number,
                      const exec::stratum_statistics& measured, stratum_statistics& figures);

}  // namespace gpulog::detail
