#pragma once

#include <map>
#include <optional>
#include <set>
#include <vector>

#include "plan/plan.hpp"
#include "plan/rules/normalized_rule.hpp"
#include "sema/program.hpp"

namespace gpulog::plan {

/// Where the values of a column come from. For estimates before the evaluation: what rules derive is not there yet.
class value_sources {
 public:
  explicit value_sources(const sema::program& source) : source_(source) {}

  /// Columns (the column itself is one) so that it will hold no values but those which they hold before the evaluation,
  /// and constants; nothing when some of its values are computed or the relation is none of the program's.
  [[nodiscard]] std::optional<std::set<column_place>> find(column_place column);

 private:
  [[nodiscard]] const std::vector<normalized_rule>& rules_of(relation_id relation);
  [[nodiscard]] bool follow(const normalized_rule& rule, std::uint32_t head_column, std::set<column_place>& found,
                            std::vector<column_place>& open) const;

  const sema::program& source_;
  std::map<relation_id, std::vector<normalized_rule>> rules_;  // of relations that were looked at
};

}  // namespace gpulog::plan
