#include <algorithm>
#include <memory>
#include <utility>

#include "plan/passes/relations/needless_sets.hpp"
#include "plan/planning.hpp"
#include "plan/reoptimizer.hpp"
#include "plan/versions/stratum_planner.hpp"

/// Steps of the full rules of a restricted relation (plan_behind() in versions/stratum_planner.cpp). A step is computed
/// once, in a stratum without recursion, so no budget of a loop applies. The sizes of all inputs are known before the
/// stratum: the planner omits a step that costs more than the rules as written.
namespace gpulog::plan {
namespace {

bool reads_any(const normalized_rule& rule, const std::set<relation_id>& relations) {
  return std::any_of(rule.atoms.begin(), rule.atoms.end(),
                     [&](const body_atom& atom) { return relations.contains(atom.relation); });
}

/// Returns an upper bound of the rows of a rule: the bindings, or all combinations of the values of the head.
double most_rows(const normalized_rule& rule, double bindings, const relation_measures& measures) {
  double combinations = 1;
  for (const sema::expression& value : rule.head_arguments) {
    double values = bindings;
    for (const body_atom& atom : rule.atoms) {
      for (std::uint32_t column = 0; column < atom.arguments.size(); ++column) {
        const term& argument = atom.arguments[column];
        const bool is_value = value.is_variable() && argument.is_variable() && argument.value == value.variable;
        const auto per_value = is_value ? measures.rows_per_key(atom.relation, {column}) : std::nullopt;
        if (per_value) values = std::min(values, static_cast<double>(measures.rows(atom.relation)) / *per_value);
      }
    }
    combinations *= values;
  }
  return std::min(bindings, combinations);
}

}  // namespace

/// Returns the changes without some steps: all steps that depend on omitted steps, the versions of the stratum that
/// extend or read omitted steps, and the rules as written of the last stratum.
reoptimizer::abandonment reoptimizer::without_steps(std::size_t number, const std::set<relation_id>& omitted) const {
  abandonment lost;
  lost.relations = omitted;
  std::size_t first = number;
  while (first > 0 && shared_->strata[first - 1].is_step) --first;
  std::size_t last = number;
  while (shared_->strata[last].is_step) ++last;
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

bool reoptimizer::is_costly_step(std::size_t number, const relation_measures& measures) {
  const relation_id step = shared_->result.strata[number].relations.front();
  std::size_t last = number;
  while (shared_->strata[last].is_step) ++last;
  stratum_builder added = plan_originals(last, without_steps(number, {step}));
  std::vector<place> places;
  for (version_recipe& recipe : shared_->strata[number].once.recipes) places.push_back({0, 0, &recipe});
  const std::size_t step_versions = places.size();
  for (version_recipe& recipe : added.once.recipes) places.push_back({0, 0, &recipe});
  measure(number, extent::all, places, measures);
  shared_->costs.expect_all_indexes();
  double with_step = 0;
  double without = 0;
  for (std::size_t v = 0; v < places.size(); ++v) {
    const version_recipe& recipe = *places[v].recipe;
    const double bindings = order_body(*recipe.rule, recipe.parts, shared_->costs).cost;
    if (v >= step_versions) {
      without += bindings;
    } else {
      with_step += bindings + calibration::stored_row_bindings * most_rows(*recipe.rule, bindings, measures);
    }
  }
  const double least = least_rows_ == 0 ? 0 : calibration::free_supplementary_bindings;
  return with_step > std::max(least, without);
}

/// Omits the step of a stratum, or plans the rules as written of a stratum whose step was omitted.
/// @return whether the stratum has changed
bool reoptimizer::omit_steps(std::size_t number, const relation_measures& measures) {
  const stratum_builder& recipes = shared_->strata[number];
  // An executor with a device decides before the run which strata suit the device.
  if (recipes.recursive || sides_.size() > 1 || chosen_.modes.is_always(supplementary_pass)) return false;
  const bool follows_steps = number > 0 && shared_->strata[number - 1].is_step;
  if (!recipes.is_step && (omitted_steps_.empty() || !follows_steps)) return false;
  const pass_timer timer(*shared_, supplementary_pass);
  stratum& planned = shared_->result.strata[number];
  const relation_id head = planned.relations.front();
  const bool is_new_step = recipes.is_step && !omitted_steps_.contains(head);
  if (is_new_step && is_costly_step(number, measures)) omitted_steps_.insert(head);
  if (omitted_steps_.empty()) return false;
  const abandonment lost = without_steps(number, omitted_steps_);
  bool has_changed = false;
  for (const auto& [phase, number_of_version] : lost.versions) {
    bool& is_retired = planned.once.versions[number_of_version].is_retired;
    has_changed = !std::exchange(is_retired, true) || has_changed;
  }
  if (!has_changed) return false;
  omitted_steps_ = lost.relations;
  planned.rows.reset();
  if (recipes.is_step) return true;
  add_originals(number, lost, measures);
  if (!shared_->is_off("needless-sets")) check_needless_sets(shared_->result, planned);
  return true;
}

}  // namespace gpulog::plan
