#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "plan/cost/cost_model.hpp"
#include "plan/cost/value_sources.hpp"
#include "plan/passes/demand/magic_sets.hpp"
#include "plan/passes/demand/magic_sets_choice.hpp"
#include "plan/passes/relations/computed_keys.hpp"
#include "plan/passes/relations/shared_bodies.hpp"
#include "plan/passes/relations/supplementary.hpp"
#include "plan/plan.hpp"
#include "plan/planner.hpp"
#include "plan/rules/normalized_rule.hpp"
#include "plan/rules/rule_text.hpp"
#include "plan/versions/plan_builder.hpp"
#include "sema/program.hpp"

namespace gpulog::plan {

/// The analysed program behind the passes that rewrite it (planner.cpp).
struct rewritten_source {
  std::optional<sema::program> program;  ///< nothing: they left it as it was
  std::vector<std::string> remarks;
  std::map<std::string, double> pass_times;
};
[[nodiscard]] rewritten_source rewrite_source(const sema::program& source, const statistics& known,
                                              const options& chosen);

/// What all passes share while a plan is made: the analysed program, what is known of sizes, the relations that exist
/// so far, and the strata that are planned so far.
class planning {
 public:
  planning(const sema::program& program_to_plan, const statistics& known_sizes, const options& chosen_options);
  planning(const planning&) = delete;
  planning& operator=(const planning&) = delete;

  rewritten_source rewritten;
  const sema::program& source;  ///< as rewritten
  const statistics& known;
  const options& chosen;
  program result;
  cost_model costs;
  std::vector<std::uint32_t> arities;      ///< by relation
  std::set<relation_id> equivalences;      ///< relations that are eqrel
  std::vector<bool> needed;                ///< by relation of the source: whether it is planned
  std::deque<stratum_builder> strata;      ///< in the order of evaluation
  std::vector<normalized_rule> before;     ///< rules of relations that were made, to be planned in strata before
  std::map<relation_id, double> demanded;  ///< by relation of demanded values: their share of the column's values
  relation_maker make_relation;
  relation_namer name_of;
  // What passes know from rules before.
  std::optional<shared_bodies> bodies;
  pattern_extraction patterns;
  magic_sets_rewriter restrictions;
  value_sources values;
  magic_sets_choice demands;

  /// Whether passes may make relations. `.pragma "supplementary" "off"` in a program forbids it, too.
  [[nodiscard]] bool may_make_relations() const;
  [[nodiscard]] bool is_off(std::string_view pass) const { return chosen.off.contains(pass); }
  void remark(std::string text) { result.remarks.push_back(std::move(text)); }
  /// The rule of a relation that was made joins `before`; its rows and values are estimated from its body, which has
  /// one atom in front of tests.
  void plan_before(normalized_rule rule);

 private:
  void add_relations();
  void add_facts();
  [[nodiscard]] relation_id add_relation_for(relation_id head, std::vector<std::string> attribute_names,
                                             std::vector<value_kind> kinds);

  std::map<relation_id, std::uint32_t> made_for_;  // how many relations were made for rules of each
};

/// Adds the time until its end to that of a pass. Passes that run inside of others count for both.
class pass_timer {
 public:
  pass_timer(planning& shared, std::string_view pass)
      : shared_(shared), pass_(pass), begin_(std::chrono::steady_clock::now()) {}
  ~pass_timer();
  pass_timer(const pass_timer&) = delete;
  pass_timer& operator=(const pass_timer&) = delete;

 private:
  planning& shared_;
  std::string_view pass_;
  std::chrono::steady_clock::time_point begin_;
};

/// Runs all passes (planner.cpp): the plan is planning::result behind them.
void run_passes(planning& shared);

/// Estimates the rows of the head of a rule with one atom in front of tests.
void expect_rows(planning& shared, const normalized_rule& rule);

}  // namespace gpulog::plan
