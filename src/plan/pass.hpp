#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "plan/cost/join_order.hpp"
#include "plan/planning.hpp"
#include "plan/rules/normalized_rule.hpp"
#include "plan/rules/stratum_rules.hpp"
#include "plan/versions/version_builder.hpp"

/// Passes: the steps of the planner that have a name, an off switch and a time in `--stats`. planner.cpp lists the
/// passes in order. A new pass needs a pair of files in passes/, a test, and a line in a list.
namespace gpulog::plan {

/// @tparam Subjects what the pass changes, in addition to the state that all passes share
template <class... Subjects>
struct pass {
  std::string_view name;
  std::string_view description;
  void (*run)(planning& shared, Subjects&... subjects);
  bool makes_relations = false;  ///< the pass needs planning::may_make_relations()
  bool is_required = false;      ///< the pass has no off switch
  bool is_on_request = false;    ///< the pass runs only in mode `always`
  bool has_modes = false;  ///< the pass has the modes `auto` (apply if it pays) and `on` (apply wherever it is correct)
};

/// Scope of a rule: the relations of its stratum if the stratum is recursive, otherwise no relations.
struct rule_scope {
  const std::vector<relation_id>& members;
};

using program_pass = pass<>;                                  ///< for the whole program, or the whole plan
using rule_pass = pass<normalized_rule, const rule_scope>;    ///< for each single rule
using stratum_pass = pass<stratum_rules>;                     ///< for all rules of a stratum
using schedule_pass = pass<const normalized_rule, schedule>;  ///< on a body in join order
using version_pass = pass<version_builder>;                   ///< for a version as operators

/// Passes that the planner of strata runs; planner.cpp lists them.
[[nodiscard]] std::span<const schedule_pass> schedule_passes();
[[nodiscard]] std::span<const version_pass> version_passes();

/// Runs one pass unless the pass is off.
/// @return whether the pass ran
template <class... Subjects>
bool run_pass(const pass<Subjects...>& one, planning& shared, Subjects&... subjects) {
  if (one.makes_relations && !shared.may_make_relations()) return false;
  if (!one.is_required && shared.is_off(one.name)) return false;
  if (one.is_on_request && !shared.chosen.modes.is_always(one.name)) return false;
  const pass_timer timer(shared, one.name);
  one.run(shared, subjects...);
  return true;
}

}  // namespace gpulog::plan
