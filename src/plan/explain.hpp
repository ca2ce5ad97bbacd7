#pragma once

#include <optional>
#include <string>
#include <vector>

#include "plan/plan.hpp"

namespace gpulog::plan {

/// Returns the plan as readable text, one line per operator: strata, phases, versions with the chosen order and its
/// reason, indexes, supplementary relations. Numbers after `~` are estimated bindings.
[[nodiscard]] std::string explain(const program& plan);

/// Returns the same text for one version, without its heading; every line ends with a newline.
[[nodiscard]] std::string explain(const program& plan, const rule_version& version);

struct explained_operator {
  std::string text;
  unsigned depth = 0;  ///< number of enclosing loops
  bool reads = false;  ///< the operator reads rows of a relation
  /// Expected number of bindings after the operator, in one run. Empty inside aggregates and first matches, which run
  /// once per group.
  std::optional<double> expected = {};
  bool begins_first_match = false;
};
/// Returns the operators of one version.
[[nodiscard]] std::vector<explained_operator> explain_operators(const program& plan, const rule_version& version);

}  // namespace gpulog::plan
