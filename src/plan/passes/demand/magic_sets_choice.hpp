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
  std::vector<double> shares;  ///< by column: of its values, those that are asked for; expected
};

/// Which relations are restricted by demand: those where few values of the columns are asked for. What is saved is that
/// the relation grows a little in each iteration; its tuples have to be found once in any case, and those that are
/// asked for twice. Values are compared as they are loaded: no other estimate says whether a column's values are those
/// that another column asks for.
class magic_sets_choice {
 public:
  magic_sets_choice(const sema::program& source, const statistics& known, magic_sets_mode mode, const cost_model& costs,
                    value_sources& sources, const relation_namer& name_of)
      : source_(source), known_(known), mode_(mode), costs_(costs), name_of_(name_of), sources_(sources) {}

  /// Whether a restriction is given up where more is asked for than was expected.
  [[nodiscard]] bool is_watched() const { return mode_ != magic_sets_mode::always; }

  /// For magic_sets_rewriter::find.
  [[nodiscard]] bool prefers(column_place first, column_place second) const;

  /// One of those that were found. Appends remarks about others that are not restricted, each once.
  [[nodiscard]] std::optional<chosen_demand> choose(std::vector<demand> found, std::vector<std::string>& remarks);

 private:
  [[nodiscard]] bool is_loaded(relation_id relation) const;
  [[nodiscard]] std::optional<double> share_of(relation_id relation, const demanded_column& asked);
  [[nodiscard]] std::optional<chosen_demand> estimate(demand asked, std::vector<std::string>& remarks);

  const sema::program& source_;
  const statistics& known_;
  magic_sets_mode mode_;
  const cost_model& costs_;
  const relation_namer& name_of_;
  value_sources& sources_;
  std::set<relation_id> declined_;
};

}  // namespace gpulog::plan
