#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "plan/cost/join_order.hpp"
#include "plan/planning.hpp"
#include "plan/rules/normalized_rule.hpp"
#include "plan/rules/stratum_rules.hpp"
#include "plan/versions/version_builder.hpp"

/// Passes: the steps of the planner that have a name, an off switch and a time in `--stats`. planner.cpp lists them in
/// order. To write one: a pair of files in passes/, a test beside the others, a line in a list.
namespace gpulog::plan {

/// @tparam Subjects what it changes, beside what all passes share
template <class... Subjects>
struct pass {
  std::string_view name;
  std::string_view description;
  void (*run)(planning& shared, Subjects&... subjects);
  bool makes_relations = false;  ///< it needs planning::may_make_relations()
  bool is_required = false;      ///< it can't be switched off
  bool has_modes = false;        ///< it can act where that pays, or wherever that is right
};

/// Where a rule stands: its stratum's relations if that is recursive, else none.
struct rule_scope {
  const std::vector<relation_id>& members;
};

using program_pass = pass<>;                                  ///< on the whole program, or the whole plan
using rule_pass = pass<normalized_rule, const rule_scope>;    ///< on each rule alone
using stratum_pass = pass<stratum_rules>;                     ///< on all rules of a stratum
using schedule_pass = pass<const normalized_rule, schedule>;  ///< on a body in the order of its join
using version_pass = pass<version_builder>;                   ///< on a version as operators

/// Those that the planner of strata runs: planner.cpp has them beside the others.
[[nodiscard]] std::span<const schedule_pass> schedule_passes();
[[nodiscard]] std::span<const version_pass> version_passes();

/// Runs one pass unless it is off. @return whether it ran
template <class... Subjects>
bool run_pass(const pass<Subjects...>& one, planning& shared, Subjects&... subjects) {
  if (one.makes_relations && !shared.may_make_relations()) return false;
  if (!one.is_required && shared.is_off(one.name)) return false;
  const pass_timer timer(shared, one.name);
  one.run(shared, subjects...);
  return true;
}

}  // namespace gpulog::plan
