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

/// The analysed program after the passes that rewrite it (planner.cpp).
struct rewritten_source {
  std::optional<sema::program> program;  ///< empty: the passes did not change the program
  std::vector<std::string> remarks;
  std::map<std::string, double> pass_times;
};
[[nodiscard]] rewritten_source rewrite_source(const sema::program& source, const statistics& known,
                                              const options& chosen);

/// State that all passes share while a plan is built: the analysed program, known sizes, the relations that exist so
/// far, and the strata planned so far.
class planning {
 public:
  planning(const sema::program& program_to_plan, const statistics& known_sizes, const options& chosen_options);
  planning(const planning&) = delete;
  planning& operator=(const planning&) = delete;

  rewritten_source rewritten;
  const sema::program& source;  ///< after rewriting
  const statistics& known;
  const options& chosen;
  program result;
  cost_model costs;
  std::vector<std::uint32_t> arities;      ///< by relation
  std::set<relation_id> equivalences;      ///< eqrel relations
  std::vector<bool> needed;                ///< by relation of the source: whether the relation is planned
  std::deque<stratum_builder> strata;      ///< in the order of evaluation
  std::vector<normalized_rule> before;     ///< rules of auxiliary relations, planned in earlier strata
  std::map<relation_id, double> demanded;  ///< by relation of requested values: their fraction of the column's values
  relation_maker make_relation;
  relation_namer name_of;
  // State that passes keep from rule to rule.
  std::optional<shared_bodies> bodies;
  pattern_extraction patterns;
  magic_sets_rewriter restrictions;
  value_sources values;
  magic_sets_choice demands;

  [[nodiscard]] bool may_make_relations() const;
  [[nodiscard]] bool is_off(std::string_view pass) const { return chosen.modes.is_off(pass); }
  void remark(std::string text) { result.remarks.push_back(std::move(text)); }
  /// Adds the rule of an auxiliary relation to `before`. The relation's rows and values are estimated from the body,
  /// which has one atom followed by tests.
  void plan_before(normalized_rule rule);

 private:
  void add_relations();
  void add_facts();
  [[nodiscard]] relation_id add_relation_for(relation_id head, std::vector<std::string> attribute_names,
                                             std::vector<value_kind> kinds);

  std::map<relation_id, std::uint32_t> made_for_;  // number of auxiliary relations per head
};

/// Adds its lifetime to the time of a pass. A pass that runs inside another pass counts for both.
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

/// Runs all passes (planner.cpp). The plan is then in planning::result.
void run_passes(planning& shared);

/// Estimates the rows of the head of a rule whose body has one atom followed by tests.
void expect_rows(planning& shared, const normalized_rule& rule);

}  // namespace gpulog::plan
