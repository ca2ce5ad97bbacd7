#pragma once

#include <map>
#include <optional>
#include <set>
#include <vector>

#include "plan/plan.hpp"
#include "plan/planner.hpp"
#include "plan/rules/normalized_rule.hpp"
#include "sema/program.hpp"

namespace gpulog::plan {

/// Finds the source columns of a column's values. For estimates before the evaluation, when derived rows do not exist
/// yet.
class value_sources {
 public:
  value_sources(const sema::program& source, const statistics& known) : source_(source), known_(known) {}

  /// Returns columns, possibly including `column` itself, whose values before the evaluation and constants together
  /// contain all values that `column` will hold. Empty if some values are computed or the relation is not in the
  /// program.
  [[nodiscard]] std::optional<std::set<column_place>> find(column_place column);

  /// Returns the share of a column's future values that occurs in other columns or among constants, or, if larger, the
  /// share of the loaded rows with these values. Empty: the values are not loaded, or too few to matter.
  [[nodiscard]] std::optional<double> share_of_values(column_place column, const std::vector<column_place>& given,
                                                      double constants = 0);

 private:
  [[nodiscard]] const std::vector<normalized_rule>& rules_of(relation_id relation);
  [[nodiscard]] bool follow(const normalized_rule& rule, std::uint32_t head_column, std::set<column_place>& found,
                            std::vector<column_place>& open) const;

  const sema::program& source_;
  const statistics& known_;
  std::map<relation_id, std::vector<normalized_rule>> rules_;  // of the relations visited so far
};

}  // namespace gpulog::plan
