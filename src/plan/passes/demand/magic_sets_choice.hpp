#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "plan/cost/cost_model.hpp"
#include "plan/cost/value_sources.hpp"
#include "plan/passes/demand/magic_sets.hpp"
#include "plan/planner.hpp"

namespace gpulog::plan {

struct chosen_demand {
  demand asked;
  std::vector<double> shares;  ///< by column: expected share of demanded values
};

/// Chooses the relations to restrict: relations with few demanded values. The restriction saves work because the
/// relation grows less in each iteration; in exchange, demanded tuples are derived twice. Shares come from loaded
/// values, because no other estimate relates the values of one column to the demand of another. In mode `always`:
/// restricts all relations.
class magic_sets_choice {
 public:
  magic_sets_choice(const sema::program& source, const statistics& known, const options& chosen,
                    const cost_model& costs, value_sources& sources, const relation_namer& name_of)
      : source_(source),
        known_(known),
        is_forced_(chosen.modes.is_always("magic-sets")),
        costs_(costs),
        name_of_(name_of),
        sources_(sources) {}

  /// Returns whether the first column is expected to have fewer values; for magic_sets_rewriter::find.
  [[nodiscard]] bool prefers(column_place first, column_place second) const;

  /// Chooses one of the found demands. Appends one remark for each relation that is not restricted.
  [[nodiscard]] std::optional<chosen_demand> choose(std::vector<demand> found, std::vector<std::string>& remarks);

 private:
  [[nodiscard]] bool is_loaded(relation_id relation) const;
  [[nodiscard]] std::optional<double> share_of(relation_id relation, const demanded_column& asked);
  [[nodiscard]] std::optional<chosen_demand> estimate(demand asked, std::vector<std::string>& remarks);

  const sema::program& source_;
  const statistics& known_;
  bool is_forced_;  ///< restrict whatever can be restricted
  const cost_model& costs_;
  const relation_namer& name_of_;
  value_sources& sources_;
  std::set<relation_id> declined_;
};

}  // namespace gpulog::plan
