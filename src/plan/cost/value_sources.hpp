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

/// Where the values of a column come from. For estimates before the evaluation: what rules derive is not there yet.
class value_sources {
 public:
  value_sources(const sema::program& source, const statistics& known) : source_(source), known_(known) {}

  /// Columns (the column itself is one) so that it will hold no values but those which they hold before the evaluation,
  /// and constants; nothing when some of its values are computed or the relation is none of the program's.
  [[nodiscard]] std::optional<std::set<column_place>> find(column_place column);

  /// Of the values that a column will have, the share that is in others or among constants, or the share of the loaded
  /// rows with these values where that is larger. Nothing: its values are not loaded, or too few to matter.
  [[nodiscard]] std::optional<double> share_of_values(column_place column, const std::vector<column_place>& given,
                                                      double constants = 0);

 private:
  [[nodiscard]] const std::vector<normalized_rule>& rules_of(relation_id relation);
  [[nodiscard]] bool follow(const normalized_rule& rule, std::uint32_t head_column, std::set<column_place>& found,
                            std::vector<column_place>& open) const;

  const sema::program& source_;
  const statistics& known_;
  std::map<relation_id, std::vector<normalized_rule>> rules_;  // of relations that were looked at
};

}  // namespace gpulog::plan
