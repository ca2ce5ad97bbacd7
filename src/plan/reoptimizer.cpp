#include "plan/reoptimizer.hpp"

#include <algorithm>
#include <cassert>
#include <numeric>
#include <optional>
#include <utility>

#include "plan/passes/bodies/first_matches.hpp"
#include "plan/passes/bodies/index_selection.hpp"
#include "plan/passes/bodies/smallest_relation_first.hpp"
#include "plan/passes/recursions/row_equations.hpp"
#include "plan/passes/relations/needless_sets.hpp"
#include "plan/planning.hpp"
#include "plan/reads.hpp"
#include "plan/validate.hpp"
#include "plan/versions/stratum_planner.hpp"

namespace gpulog::plan {
namespace {

/// Returns whether the order of a version's bindings affects its result.
bool depends_on_order(const rule_version& version) {
  return std::any_of(version.operations.begin(), version.operations.end(), [](const operation& one) {
    const auto* const computed = std::get_if<compute>(&one);
    const auto* const folded = std::get_if<fold_end>(&one);
    const bool adds_floats = folded != nullptr && (folded->op == fold_op::sum_float || folded->op == fold_op::mean ||
                                                   folded->op == fold_op::functor);
    return adds_floats || (computed != nullptr && computed->op == scalar_op::next_counter);
  });
}

std::vector<relation_id> relations_in_order(const rule_version& version) {
  std::vector<relation_id> relations;
  for_each_read(version, [&](relation_id relation, index_id, bool) { relations.push_back(relation); });
  return relations;
}

/// Visits all atoms of a rule, including atoms in aggregates and negations.
template <class Visit>
void for_each_atom(const normalized_rule& rule, const Visit& visit) {
  for (const body_atom& atom : rule.atoms) visit(atom);
  for (const body_atom& negated : rule.negations) visit(negated);
  for (const aggregation& folded : rule.aggregations) for_each_atom(folded.body, visit);
}

/// Returns whether several orders exist: two atoms in addition to delta.
bool has_orders(const version_recipe& recipe) {
  return !recipe.is_forced && recipe.rule->atoms.size() >= (recipe.parts.delta_atom ? 3U : 2U);
}

}  // namespace

reoptimizer::reoptimizer(const sema::program& source, statistics known, options chosen, std::uint64_t least_rows)
    : known_(std::move(known)),
      chosen_(std::move(chosen)),
      least_rows_(least_rows),
      shared_(std::make_unique<planning>(source, known_, chosen_)) {
  run_passes(*shared_);
  for (stratum_builder& made : shared_->strata) {
    made.once.versions.clear();
    for (phase_builder& repeated : made.loop) repeated.versions.clear();
  }
  note_uses();
}

reoptimizer::~reoptimizer() = default;

const program& reoptimizer::plan() const { return shared_->result; }

void reoptimizer::set_sides(std::vector<std::vector<bool>> strata_of_sides) {
  sides_ = std::move(strata_of_sides);
  note_uses();
}

void reoptimizer::note_uses() {
  const program& plan = shared_->result;
  constexpr std::size_t always = SIZE_MAX;
  index_uses_.assign(plan.indexes.size(), 0);
  first_index_uses_.assign(plan.indexes.size(), always);
  set_uses_.clear();
  for (const std::vector<bool>& may_run : sides_) note_uses_of(may_run);
}

void reoptimizer::note_uses_of(const std::vector<bool>& may_run) {
  const program& plan = shared_->result;
  uses_of_sets& uses = set_uses_.emplace_back();
  std::vector<std::size_t>& sets = uses.sets;
  std::vector<std::size_t>& others = uses.others;
  sets.resize(plan.relations.size());
  others.resize(plan.relations.size());
  for (std::size_t number = 0; number < plan.strata.size(); ++number) {
    if (!may_run.empty() && !may_run[number]) continue;
    const stratum& planned = plan.strata[number];
    for (const relation_id member : planned.relations) {
      const relation& target = plan.relations[member.value];
      if (target.needs_set && !target.loops_distinct) sets[member.value] = others[member.value] = number + 1;
    }
    for_each_version(planned, [&](const rule_version& version) {
      for_each_read(version, [&](relation_id relation, index_id used, bool asks_set) {
        if (used.valid()) {
          index_uses_[used.value] = std::max(index_uses_[used.value], number + 1);
          first_index_uses_[used.value] = std::min(first_index_uses_[used.value], number);
        }
        if (asks_set) sets[relation.value] = number + 1;
      });
      const auto note_set = [&](relation_id relation, index_id, bool asks_set) {
        if (asks_set) others[relation.value] = number + 1;
      };
      for_each_read(version, note_set, true);
    });
  }
}

std::vector<reoptimizer::place> reoptimizer::places_in(std::size_t number, extent planned_part) const {
  const stratum& planned = shared_->result.strata[number];
  stratum_builder& recipes = shared_->strata[number];
  std::vector<place> places;
  const auto add = [&](const phase& from, phase_builder& made, std::size_t phase_number) {
    for (std::size_t v = 0; v < from.versions.size(); ++v) {
      const rule_version& version = from.versions[v];
      if (has_orders(made.recipes[v]) && !version.rows && !version.is_retired && !depends_on_order(version))
        places.push_back({phase_number, v, &made.recipes[v]});
    }
  };
  if (planned_part == extent::all) add(planned.once, recipes.once, 0);
  for (std::size_t level = 0; level < planned.loop.size(); ++level)
    add(planned.loop[level], recipes.loop[level], level + 1);
  return places;
}

bool reoptimizer::reads_much(const std::vector<place>& places, const relation_measures& measures) const {
  return std::any_of(places.begin(), places.end(), [&](const place& one) {
    const std::vector<body_atom>& atoms = one.recipe->rule->atoms;
    return std::any_of(atoms.begin(), atoms.end(), [&](const body_atom& atom) {
      return !shared_->equivalences.contains(atom.relation) && measures.rows(atom.relation) >= least_rows_;
    });
  });
}

bool reoptimizer::plan_again(std::size_t number, extent planned_part, const relation_measures& measures,
                             const std::function<bool()>& suits) {
  stratum& planned = shared_->result.strata[number];
  const bool chooses = std::any_of(planned.relations.begin(), planned.relations.end(), [&](relation_id member) {
    return !shared_->result.relations[member.value].choice_domains.empty();
  });
  if (chooses || planned.has_row_steps() || planned.is_row_join() || !planned.subsumptions.empty()) return false;
  const std::vector<place> places = places_in(number, planned_part);
  if (places.empty() || !reads_much(places, measures)) return false;
  const bool grown = has_grown(places, measures);
  if (planned_part == extent::loop && least_rows_ != 0 && !grown) return false;
  const pass_timer timer(*shared_, "reoptimization");
  measure(number, planned_part, places, measures);
  std::vector<schedule> orders = order_again(number, planned_part, places);
  bool any_change = planned_part == extent::all;
  for (std::size_t v = 0; v < places.size(); ++v)
    any_change = any_change || atoms_in_order(orders[v]) != places[v].recipe->atom_order;
  if (!any_change) return false;

  // Plans of this stratum only: a program may have hundreds of strata.
  const std::optional<stratum> before = suits ? std::optional(planned) : std::nullopt;
  const auto plans_of_stratum = [&] {
    return std::pair(former_plans_.lower_bound({number, 0}), former_plans_.lower_bound({number + 1, 0}));
  };
  const auto [begin, end] = plans_of_stratum();
  decltype(former_plans_) former_plans(begin, end);
  std::vector<std::vector<std::uint32_t>> atoms;
  for (const schedule& order : orders) atoms.push_back(atoms_in_order(order));
  take_over(number, places, std::move(orders));
  if (suits && !suits()) {
    planned = *before;
    const auto [first, last] = plans_of_stratum();
    former_plans_.erase(first, last);
    former_plans_.merge(former_plans);
    return true;
  }
  if (!shared_->is_off("needless-sets")) check_needless_sets(shared_->result, planned);
  for (std::size_t v = 0; v < places.size(); ++v) places[v].recipe->atom_order = std::move(atoms[v]);
  return true;
}

/// Measures the relations that the versions read: complete relations, and relations that grow in the loop.
void reoptimizer::measure(std::size_t number, extent planned_part, const std::vector<place>& places,
                          const relation_measures& measures) {
  const std::vector<relation_id>& relations = shared_->result.strata[number].relations;
  const std::set<relation_id> members(relations.begin(), relations.end());
  std::set<relation_id> measured;
  for (const place& one : places) {
    for_each_atom(*one.recipe->rule, [&](const body_atom& atom) {
      if (shared_->equivalences.contains(atom.relation)) return;
      if (planned_part == extent::loop || !members.contains(atom.relation)) measured.insert(atom.relation);
    });
  }
  for (const relation_id one : measured) shared_->costs.measure(one, measures);
  measures.expect({measured.begin(), measured.end()});
  if (planned_part == extent::all) shared_->costs.estimate_again(shared_->source, relations);
}

reoptimizer::abandonment reoptimizer::abandonment_of(std::size_t number, relation_id supplementary) const {
  const stratum& planned = shared_->result.strata[number];
  const std::vector<phase_builder>& recipes = shared_->strata[number].loop;
  abandonment lost;
  lost.relations.insert(supplementary);
  const auto for_each_running = [&](const auto& visit) {
    for (std::size_t level = 0; level < planned.loop.size(); ++level) {
      const std::vector<rule_version>& versions = planned.loop[level].versions;
      for (std::size_t v = 0; v < versions.size(); ++v) {
        const bool is_retired = versions[v].is_retired || lost.versions.contains({level, v});
        if (!is_retired) visit(std::pair(level, v), versions[v].head, recipes[level].recipes[v]);
      }
    }
  };
  const auto reads = [](const normalized_rule& rule, const auto& is_meant) {
    return std::any_of(rule.atoms.begin(), rule.atoms.end(),
                       [&](const body_atom& atom) { return is_meant(atom.relation); });
  };
  const auto is_lost = [&](relation_id id) { return lost.relations.contains(id); };
  for (bool changed = true; std::exchange(changed, false);) {
    for_each_running([&](const auto& where, relation_id head, const version_recipe& recipe) {
      if (!is_lost(head) && !reads(*recipe.rule, is_lost)) return;
      changed = true;
      lost.versions.insert(where);
      const auto& made = planned.supplementary;
      if (std::find(made.begin(), made.end(), head) != made.end()) lost.relations.insert(head);
      const auto& rules = lost.originals;
      const auto& original = recipe.rule->original;
      const bool is_new = std::find(rules.begin(), rules.end(), original) == rules.end();
      if (original != nullptr && is_new) lost.originals.push_back(original);
    });
    for (const relation_id unread : planned.supplementary) {
      bool is_read = is_lost(unread);
      for_each_running([&](const auto&, relation_id, const version_recipe& recipe) {
        is_read = is_read || reads(*recipe.rule, [unread](relation_id id) { return id == unread; });
      });
      if (is_read) continue;
      lost.relations.insert(unread);
      changed = true;
    }
  }
  return lost;
}

stratum_builder reoptimizer::plan_originals(std::size_t number, const abandonment& lost) {
  stratum_builder added;
  added.relations = shared_->result.strata[number].relations;
  added.recursive = shared_->result.strata[number].recursive;
  added.losing = shared_->strata[number].losing;
  added.loop.resize(1);
  for (const auto& original : lost.originals) plan_loop_rule(*shared_, original, added);
  return added;
}

double reoptimizer::work_without(std::size_t number, relation_id supplementary, const relation_measures& measures) {
  const pass_timer timer(*shared_, supplementary_pass);
  if (shared_->strata[number].is_step()) return work_without_step(number, measures);
  const abandonment lost = abandonment_of(number, supplementary);
  stratum_builder added = plan_originals(number, lost);
  std::vector<place> places;
  for (version_recipe& recipe : added.loop.front().recipes) places.push_back({0, 0, &recipe});
  measure(number, extent::loop, places, measures);
  shared_->costs.expect_all_indexes();
  double work = 0;
  for (const version_recipe& recipe : added.loop.front().recipes) {
    const relation_id read = recipe.rule->atoms[*recipe.parts.delta_atom].relation;
    work += order_body(*recipe.rule, recipe.parts, shared_->costs).cost * shared_->costs.rows(read, row_part::all) /
            shared_->costs.rows(read, row_part::delta);
  }
  return work;
}

void reoptimizer::add_originals(std::size_t number, const abandonment& lost, const relation_measures& measures) {
  stratum& planned = shared_->result.strata[number];
  stratum_builder added = plan_originals(number, lost);
  const bool is_loop = planned.recursive;
  const extent planned_part = is_loop ? extent::loop : extent::all;
  std::vector<version_recipe>& recipes =
      is_loop ? shared_->strata[number].loop.back().recipes : shared_->strata[number].once.recipes;
  std::vector<rule_version>& versions = is_loop ? planned.loop.back().versions : planned.once.versions;
  const std::size_t first = versions.size();
  for (version_recipe& recipe : is_loop ? added.loop.front().recipes : added.once.recipes) {
    recipe.atom_order.clear();
    recipes.push_back(std::move(recipe));
    versions.emplace_back();
  }
  std::vector<place> places;
  for (std::size_t v = first; v < versions.size(); ++v) places.push_back({planned.loop.size(), v, &recipes[v]});
  measure(number, planned_part, places, measures);
  std::vector<schedule> orders = order_again(number, planned_part, places);
  for (std::size_t i = 0; i < places.size(); ++i) places[i].recipe->atom_order = atoms_in_order(orders[i]);
  take_over(number, places, std::move(orders));
  find_row_joins(*shared_, planned, std::span(versions).subspan(first));
}

std::vector<relation_id> reoptimizer::abandon(std::size_t number, relation_id supplementary,
                                              const relation_measures& measures, const std::function<bool()>& suits) {
  const pass_timer timer(*shared_, supplementary_pass);
  if (shared_->strata[number].is_step()) return abandon_step(number);
  stratum& planned = shared_->result.strata[number];
  const stratum before = planned;
  const abandonment lost = abandonment_of(number, supplementary);
  for (const auto& [level, version] : lost.versions) planned.loop[level].versions[version].is_retired = true;
  std::erase_if(planned.supplementary, [&](relation_id id) { return lost.relations.contains(id); });
  add_originals(number, lost, measures);
  if (suits && !suits()) {
    planned = before;
    shared_->strata[number].loop.back().recipes.resize(before.loop.back().versions.size());
    return {};
  }
  if (!shared_->is_off("needless-sets")) check_needless_sets(shared_->result, planned);
  return {lost.relations.begin(), lost.relations.end()};
}

bool reoptimizer::put_back(std::size_t number, std::size_t version, const std::function<bool()>& suits) {
  const auto changed = former_plans_.find({number, version});
  if (changed == former_plans_.end()) return false;
  stratum& planned = shared_->result.strata[number];
  std::size_t in_phase = version - planned.once.versions.size();
  std::size_t level = 0;
  while (in_phase >= planned.loop[level].versions.size()) in_phase -= planned.loop[level++].versions.size();
  rule_version& present = planned.loop[level].versions[in_phase];
  version_recipe& recipe = shared_->strata[number].loop[level].recipes[in_phase];
  former_plan before = changed->second.back();
  before.version.former_plans = present.former_plans + 1;
  before.version.is_put_back = true;
  std::swap(present, before.version);
  if (suits && !suits()) {
    std::swap(present, before.version);
    return false;
  }
  std::swap(recipe.atom_order, before.atom_order);
  recipe.is_forced = true;
  changed->second.push_back(std::move(before));
  if (!shared_->is_off("needless-sets")) check_needless_sets(shared_->result, planned);
  return true;
}

const std::vector<reoptimizer::former_plan>& reoptimizer::former_plans(std::size_t stratum, std::size_t version) const {
  static const std::vector<former_plan> none;
  const auto changed = former_plans_.find({stratum, version});
  return changed == former_plans_.end() ? none : changed->second;
}

reoptimizer::known_size reoptimizer::size_of(relation_id relation) const {
  return {shared_->costs.rows(relation, row_part::all), shared_->costs.knows_rows(relation)};
}

reoptimizer::lost_sets reoptimizer::lost_sets_of(std::size_t number, const std::vector<place>& places) const {
  lost_sets lost;
  const auto note_read = [&](const body_atom& atom) {
    const relation_id read = atom.relation;
    if (shared_->equivalences.contains(read)) return;
    for (std::size_t side = 0; side < sides_.size(); ++side) {
      if (!sides_[side].empty() && !sides_[side][number]) continue;
      if (set_uses_[side].sets[read.value] <= number) lost.without_set.insert(read);
      if (set_uses_[side].others[read.value] <= number) lost.without_any_set.insert(read);
    }
  };
  for (const place& one : places) for_each_atom(*one.recipe->rule, note_read);
  return lost;
}

/// Returns the present orders of versions in a running loop with the present costs; std::nullopt for orders that do not
/// follow from atoms alone.
std::vector<std::optional<schedule>> reoptimizer::present_orders(const std::vector<place>& places) const {
  std::vector<std::optional<schedule>> present(places.size());
  for (std::size_t v = 0; v < places.size(); ++v) {
    const version_recipe& recipe = *places[v].recipe;
    if (recipe.atom_order.empty()) continue;
    present[v] = order_body(*recipe.rule, recipe.parts, shared_->costs, &recipe.atom_order);
    present[v]->reason = "as before";
  }
  return present;
}

/// Returns the least cost difference for which a loop changes an order.
double reoptimizer::least_difference_of(const std::vector<std::optional<schedule>>& present) const {
  if (least_rows_ == 0) return 0;
  double cost_of_all = 0;
  for (const std::optional<schedule>& one : present) cost_of_all += one ? one->cost : 0;
  return calibration::least_gained_share * cost_of_all;
}

/// Returns whether some relation read by the versions has grown substantially since the last call.
bool reoptimizer::has_grown(const std::vector<place>& places, const relation_measures& measures) {
  std::map<relation_id, std::uint64_t> now;
  for (const place& one : places) {
    for_each_atom(*one.recipe->rule, [&](const body_atom& atom) {
      if (!shared_->equivalences.contains(atom.relation)) now.try_emplace(atom.relation, measures.rows(atom.relation));
    });
  }
  const bool grown = std::any_of(now.begin(), now.end(), [this](const auto& one) {
    const auto before = noticed_rows_.find(one.first);
    const double least = before == noticed_rows_.end() ? 0 : static_cast<double>(before->second);
    return one.second >= least_rows_ && static_cast<double>(one.second) > calibration::noticed_growth * least;
  });
  if (grown) {
    for (const auto& [relation, rows] : now) noticed_rows_[relation] = rows;
  }
  return grown;
}

std::vector<schedule> reoptimizer::order_again(std::size_t number, extent planned_part,
                                               const std::vector<place>& places) {
  const index_scope scope{shared_->arities, shared_->equivalences, {}, lost_sets_of(number, places).without_set};
  std::set<relation_id> read;
  for (const place& one : places) {
    for_each_atom(*one.recipe->rule, [&](const body_atom& atom) { read.insert(atom.relation); });
  }
  std::vector<index> there;
  for (std::size_t used = 0; used < index_uses_.size(); ++used) {
    if (!read.contains(shared_->result.indexes[used].relation)) continue;
    const bool by_others = first_index_uses_[used] < number || index_uses_[used] > number + 1;
    if (index_uses_[used] > number && (by_others || planned_part == extent::loop))
      there.push_back(shared_->result.indexes[used]);
  }
  shared_->costs.charge_indexes(there, scope.without_set);
  std::vector<std::optional<schedule>> present(places.size());
  if (planned_part == extent::loop) present = present_orders(places);
  const double least_gain = least_rows_ == 0 ? 1 : calibration::least_gain;
  const double least_difference = least_difference_of(present);
  // Indexes for the loop also serve the versions before the loop, which run once.
  std::vector<std::size_t> loop_first(places.size());
  std::iota(loop_first.begin(), loop_first.end(), std::size_t{0});
  std::stable_partition(loop_first.begin(), loop_first.end(), [&](std::size_t v) { return places[v].phase != 0; });
  std::vector<schedule> orders(places.size());
  for (const std::size_t v : loop_first) {
    const version_recipe& recipe = *places[v].recipe;
    // A version of a running loop keeps the order, unless a different order is clearly better and the difference
    // matters to the loop.
    if (present[v] && present[v]->cost <= least_difference) {
      orders[v] = std::move(*present[v]);
      continue;
    }
    schedule best = order_body(*recipe.rule, recipe.parts, shared_->costs);
    const bool stays =
        present[v] && (atoms_in_order(best) == recipe.atom_order || present[v]->cost <= least_gain * best.cost ||
                       present[v]->cost - best.cost <= least_difference);
    if (stays) {
      orders[v] = std::move(*present[v]);
      continue;
    }
    version_builder built = build_ordered(*shared_, *recipe.rule, recipe.parts, best);
    std::set<searched_columns> searches;
    append_searches(built, scope, searches);
    for (const searched_columns& search : searches) shared_->costs.expect_index(search.relation, search.columns);
    orders[v] = std::move(best);
  }
  return orders;
}

void reoptimizer::take_over(std::size_t number, const std::vector<place>& places, std::vector<schedule> orders) {
  const stratum_builder& recipes = shared_->strata[number];
  stratum& planned = shared_->result.strata[number];
  const auto [without_set, without_any_set] = lost_sets_of(number, places);
  stratum_builder again;
  again.relations = planned.relations;
  again.recursive = planned.recursive;
  again.losing = recipes.losing;
  again.loop.resize(planned.loop.size());
  for (std::size_t v = 0; v < places.size(); ++v) {
    phase_builder& target = places[v].phase == 0 ? again.once : again.loop[places[v].phase - 1];
    const version_recipe& recipe = *places[v].recipe;
    target.versions.push_back(build_ordered(*shared_, *recipe.rule, recipe.parts, std::move(orders[v])));
  }
  if (!shared_->is_off("smallest-relation-first")) find_intersections(*shared_, again, without_any_set);
  std::vector<version_builder*> versions;
  for (version_builder& one : again.once.versions) versions.push_back(&one);
  for (phase_builder& repeated : again.loop) {
    for (version_builder& one : repeated.versions) versions.push_back(&one);
  }
  index_scope scope{shared_->arities, shared_->equivalences, {}, without_set};
  for (const std::size_t last : index_uses_) scope.usable.push_back(last > number);
  add_indexes(versions, scope, shared_->result.indexes);
  index_uses_.resize(shared_->result.indexes.size());
  first_index_uses_.resize(shared_->result.indexes.size(), number);

  for (std::size_t v = 0; v < places.size(); ++v) {
    const place& one = places[v];
    phase& target = one.phase == 0 ? planned.once : planned.loop[one.phase - 1];
    rule_version made = finish(std::move(*versions[v]));
    if (!shared_->is_off("first-matches")) find_first_matches(made, shared_->source.words);
    for_each_read(made, [&](relation_id, index_id used, bool) {
      if (used.valid()) index_uses_[used.value] = std::max(index_uses_[used.value], number + 1);
    });
    rule_version& replaced = target.versions[one.version];
    made.former_plans = replaced.former_plans;
    if (!replaced.operations.empty() && relations_in_order(made) != relations_in_order(replaced)) {
      ++made.former_plans;
      std::size_t version = one.version;
      if (one.phase != 0) version += planned.once.versions.size();
      for (std::size_t p = 1; p < one.phase; ++p) version += planned.loop[p - 1].versions.size();
      former_plans_[{number, version}].push_back({std::move(replaced), one.recipe->atom_order});
    }
    replaced = std::move(made);
  }
  assert(validate(shared_->result).empty());
}

}  // namespace gpulog::plan
