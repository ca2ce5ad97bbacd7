#pragma once

#include <optional>
#include <string>
#include <vector>

#include "plan/plan.hpp"

namespace gpulog::plan {

/// The plan as readable text, one line an operator: strata, phases, versions with the order chosen and why, indexes,
/// supplementary relations. Numbers behind `~` are estimates of bindings.
[[nodiscard]] std::string explain(const program& plan);

/// The same for one version, without its heading; one line an operator, each ended by a newline.
[[nodiscard]] std::string explain(const program& plan, const rule_version& version);

struct explained_operator {
  std::string text;
  unsigned depth = 0;  ///< loops around it
  bool reads = false;  ///< it reads rows of a relation
  /// Bindings expected behind it, in one run. Nothing inside of aggregates and first matches, which run once for each
  /// of their groups.
  std::optional<double> expected = {};
  bool begins_first_match = false;
};
/// The operators of one version.
[[nodiscard]] std::vector<explained_operator> explain_operators(const program& plan, const rule_version& version);

}  // namespace gpulog::plan
