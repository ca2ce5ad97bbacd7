#include <algorithm>
#include <limits>
#include <memory>
#include <utility>

#include "plan/passes/relations/needless_sets.hpp"
#include "plan/planning.hpp"
#include "plan/reoptimizer.hpp"
#include "plan/versions/stratum_planner.hpp"

/// Steps of the full rules of a restricted relation (plan_behind() in versions/stratum_planner.cpp). Each step has its
/// own stratum, without recursion. A run that abandons a step continues with the rules as written, in later strata.
namespace gpulog::plan {
namespace {

bool reads_any(const normalized_rule& rule, const std::set<relation_id>& relations) {
  return std::any_of(rule.atoms.begin(), rule.atoms.end(),
                     [&](const body_atom& atom) { return relations.contains(atom.relation); });
}

}  // namespace

/// Returns the number of the stratum whose rules read the step of a stratum, perhaps through further steps.
std::size_t reoptimizer::stratum_behind(std::size_t step) const {
  while (shared_->strata[step].is_step()) ++step;
  return step;
}

/// Returns the changes without some steps: all steps that depend on abandoned steps, the versions of the stratum that
/// extend or read these, and the rules as written of the last stratum.
reoptimizer::abandonment reoptimizer::without_steps(std::size_t number, const std::set<relation_id>& abandoned) const {
  abandonment lost;
  lost.relations = abandoned;
  std::size_t first = number;
  while (first > 0 && shared_->strata[first - 1].is_step()) --first;
  const std::size_t last = stratum_behind(number);
  const relation_id result = shared_->result.strata[last].relations.front();
  for (std::size_t n = first; n <= last; ++n) {
    const std::vector<version_recipe>& recipes = shared_->strata[n].once.recipes;
    const relation_id head = shared_->result.strata[n].relations.front();
    const bool reads = std::any_of(recipes.begin(), recipes.end(),
                                   [&](const version_recipe& one) { return reads_any(*one.rule, lost.relations); });
    if (reads && n != last) lost.relations.insert(head);
    for (std::size_t v = 0; v < recipes.size(); ++v) {
      const normalized_rule& rule = *recipes[v].rule;
      if (!lost.relations.contains(head) && !reads_any(rule, lost.relations)) continue;
      if (n == number) lost.versions.insert({0, v});
      const auto& known = lost.originals;
      const bool is_new = std::find(known.begin(), known.end(), rule.original) == known.end();
      if (is_new && rule.original != nullptr && rule.original->head == result) lost.originals.push_back(rule.original);
    }
  }
  return lost;
}

double reoptimizer::work_without_step(std::size_t number, const relation_measures& measures) {
  if (sides_.size() > 1) return std::numeric_limits<double>::infinity();
  const std::set<relation_id> step = {shared_->result.strata[number].relations.front()};
  const std::size_t last = stratum_behind(number);
  stratum_builder added = plan_originals(last, without_steps(number, step));
  std::vector<place> places;
  for (version_recipe& recipe : added.once.recipes) places.push_back({0, 0, &recipe});
  measure(last, extent::all, places, measures);
  shared_->costs.expect_all_indexes();
  double work = 0;
  for (const version_recipe& recipe : added.once.recipes)
    work += order_body(*recipe.rule, recipe.parts, shared_->costs).cost;
  return work;
}

std::vector<relation_id> reoptimizer::abandon_step(std::size_t number) {
  // An executor with a device decides before the run which strata suit the device.
  if (sides_.size() > 1) return {};
  const relation_id step = shared_->result.strata[number].relations.front();
  abandoned_steps_.insert(step);
  retire_without_steps(number);
  return {step};
}

/// Retires the versions of a stratum that extend or read abandoned steps.
/// @return whether a version was retired
bool reoptimizer::retire_without_steps(std::size_t number) {
  stratum& planned = shared_->result.strata[number];
  const abandonment lost = without_steps(number, abandoned_steps_);
  bool has_changed = false;
  for (const auto& [phase, version] : lost.versions)
    has_changed = !std::exchange(planned.once.versions[version].is_retired, true) || has_changed;
  if (!has_changed) return false;
  abandoned_steps_ = lost.relations;
  planned.rows.reset();
  return true;
}

bool reoptimizer::follow_abandoned_steps(std::size_t number, const relation_measures& measures) {
  const bool is_step = shared_->strata[number].is_step();
  const bool reads_steps = number > 0 && shared_->strata[number - 1].is_step();
  if (abandoned_steps_.empty() || shared_->strata[number].recursive || (!is_step && !reads_steps)) return false;
  const pass_timer timer(*shared_, supplementary_pass);
  const abandonment lost = without_steps(number, abandoned_steps_);
  if (!retire_without_steps(number)) return false;
  if (is_step) return true;
  add_originals(number, lost, measures);
  if (!shared_->is_off("needless-sets")) check_needless_sets(shared_->result, shared_->result.strata[number]);
  return true;
}

}  // namespace gpulog::plan
