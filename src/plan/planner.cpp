#include "plan/planner.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <chrono>
#include <iterator>
#include <utility>

#include "plan/pass.hpp"
#include "plan/passes/bodies/bounded_ranges.hpp"
#include "plan/passes/bodies/equivalence_arguments.hpp"
#include "plan/passes/bodies/first_matches.hpp"
#include "plan/passes/bodies/late_materialization.hpp"
#include "plan/passes/bodies/repetitions.hpp"
#include "plan/passes/bodies/smallest_relation_first.hpp"
#include "plan/passes/demand/magic_sets.hpp"
#include "plan/passes/demand/magic_transform.hpp"
#include "plan/passes/recursions/invariant_columns.hpp"
#include "plan/passes/recursions/row_equations.hpp"
#include "plan/passes/relations/computed_keys.hpp"
#include "plan/passes/relations/dense_domains.hpp"
#include "plan/passes/relations/needless_sets.hpp"
#include "plan/passes/relations/semi_join_reduction.hpp"
#include "plan/passes/relations/shared_bodies.hpp"
#include "plan/passes/relations/unneeded_relations.hpp"
#include "plan/validate.hpp"
#include "plan/versions/stratum_planner.hpp"

namespace gpulog::plan {
namespace {

// The planner runs the following lists in order. Each pass preserves the meaning of its input. In builds with
// assertions, validate() checks programs, rules and strata after each pass, and versions together with the plan.

/// Passes on the analysed program, before any facts about its relations are known.
struct source_pass {
  std::string_view name;
  std::string_view description;
  magic_program (*run)(const sema::program& source, const statistics& known, const options& chosen);
  bool is_required = false;
  bool has_modes = false;
  bool is_on_request = false;
};
constexpr source_pass source_passes[] = {
    {.name = "magic-transform",
     .description = "derive only the tuples that outputs need, for relations that are read at few keys",
     .run = transform_by_magic_sets,
     .has_modes = true},
};

/// Passes before any planning.
constexpr program_pass program_passes[] = {
    {.name = "unneeded-relations",
     .description = "omit relations that no output depends on",
     .run = leave_out_unneeded_relations,
     .is_on_request = true},
};

/// Passes on each rule, in the order of the strata. New relations are planned before the rule's stratum.
constexpr rule_pass rule_passes[] = {
    {"bounded-ranges", "replace x = range(a,b) by two comparisons where an atom binds x",
     [](planning&, normalized_rule& rule, const rule_scope&) { compare_bounds(rule); }},
    {"repeated-literals", "drop repeated literals of a rule",
     [](planning&, normalized_rule& rule, const rule_scope&) { drop_repeated_literals(rule); }},
    {.name = "counted-projection",
     .description = "project atoms of aggregates that count assignments to their named columns",
     .run = [](planning& shared, normalized_rule& rule, const rule_scope&) { project_counted_atoms(shared, rule); },
     .is_required = true},
    {.name = "equivalence-arguments",
     .description = "replace r(x,x) of an eqrel by r(x,_)",
     .run = [](planning& shared, normalized_rule& rule, const rule_scope&) { mark_equivalences(shared, rule); },
     .is_required = true},
    {.name = "aggregated-fields",
     .description = "index relations by record fields that aggregates search",
     .run = search_aggregated_fields,
     .makes_relations = true},
    {.name = "shared-bodies",
     .description = "evaluate the body of a clause with several heads once",
     .run = [](planning& shared, normalized_rule& rule, const rule_scope&) { share_body(shared, rule); },
     .makes_relations = true},
};

/// Passes on all rules of a stratum together.
constexpr stratum_pass stratum_passes[] = {
    {"repeated-rules", "evaluate rules once that differ only in names", drop_repeated_rules_of},
    {.name = "computed-keys",
     .description = "index relations by record fields and computed values that join atoms",
     .run = join_by_computed_keys,
     .makes_relations = true},
    {.name = "invariant-columns",
     .description = "evaluate a recursion separately for each value of columns that no rule changes",
     .run = make_invariant_steps,
     .makes_relations = true},
    {.name = "magic-sets",
     .description = "restrict relations inside a recursion to the keys that the recursion reads",
     .run = apply_magic_sets,
     .makes_relations = true,
     .has_modes = true},
    {.name = "semi-join-reduction",
     .description = "in recursive rules, read only rows with a join partner in a second relation",
     .run = reduce_by_semi_joins,
     .makes_relations = true,
     .has_modes = true},
};

/// Passes on a body in join order, for each semi-naive version of a rule (stratum_planner.cpp).
constexpr schedule_pass schedules[] = {
    {"late-materialization", "create records as late as possible",
     [](planning&, const normalized_rule& rule, schedule& order) { delay_records(rule, order.steps); }},
};

/// Passes on the operators of a version.
constexpr version_pass versions[] = {
    {.name = "dead-columns",
     .description = "do not bind columns without readers",
     .run = [](planning& shared, version_builder& version) { simplify(version, shared.arities); },
     .is_required = true},
};

/// Passes on the whole plan.
constexpr program_pass plan_passes[] = {
    {"smallest-relation-first", "for each binding, search the atom with the fewest matching rows",
     search_smallest_relations},
    {.name = "index-selection",
     .description = "choose the fewest sorted orders that serve all searches",
     .run = choose_indexes,
     .is_required = true},
    {.name = "operators", .description = "number the slots", .run = make_operators, .is_required = true},
    {"first-matches", "stop at the first match of atoms that bind no variable", find_first_matches},
    {.name = "rows",
     .description = "find relations that can be computed row by row",
     .run = find_row_equations,
     .is_required = true},
    {"dense-domains", "find relations whose possible values are known before evaluation", find_dense_domains},
    {"needless-sets", "store relations whose rows cannot repeat without a tuple set",
     [](planning& shared) { drop_needless_sets(shared.result); }},
};

/// Runs a pass; builds with assertions check the result.
template <class... Subjects>
void run_and_check(const pass<Subjects...>& one, planning& shared, Subjects&... subjects) {
  if (!run_pass(one, shared, subjects...)) return;
  if constexpr (sizeof...(Subjects) == 0) {
    assert(shared.result.strata.empty() || validate(shared.result).empty());
  } else {
    assert(validate(shared.result, subjects...).empty());
  }
}

/// @return nothing if the rule never applies
std::optional<normalized_rule> rewrite(planning& shared, normalized_rule rule, const rule_scope& scope) {
  for (const rule_pass& one : rule_passes) {
    run_and_check(one, shared, rule, scope);
    plan_strata_before(shared);
  }
  if (!rule.unsatisfiable) return rule;
  shared.remark(fmt::format("never holds, omitted: {}", rule.text));
  return std::nullopt;
}

/// Returns the rules that erase tuples from relations of the stratum.
std::vector<normalized_rule> subsumptions_of(planning& shared, const sema::stratum& planned) {
  std::vector<normalized_rule> result;
  for (const relation_id member : planned.relations) {
    for (const std::uint32_t number : shared.source[member].subsumptions) {
      normalized_rule rule = normalize(shared.source.subsumptions[number], shared.source.words);
      project_counted_atoms(shared, rule);
      plan_strata_before(shared);
      if (rule.unsatisfiable) {
        shared.remark(fmt::format("never holds, omitted: {}", rule.text));
      } else {
        result.push_back(std::move(rule));
      }
    }
  }
  return result;
}

/// Returns whether an aggregate reads relations of its own recursion directly.
bool counts_itself(const planning& shared, const sema::stratum& planned) {
  return std::any_of(planned.rules.begin(), planned.rules.end(), [&](const rule_id id) {
    const std::vector<sema::literal>& body = shared.source[id].body;
    return std::any_of(body.begin(), body.end(), [](const sema::literal& part) {
      const auto* folded = std::get_if<sema::aggregate>(&part);
      return folded != nullptr && folded->grows;
    });
  });
}

void plan(planning& shared, const sema::stratum& planned) {
  const std::vector<relation_id> none;
  const rule_scope scope{planned.recursive ? planned.relations : none};
  stratum_rules rules;
  rules.members = planned.relations;
  rules.recursive = planned.recursive;
  for (const rule_id id : planned.rules) {
    auto rule = rewrite(shared, normalize(shared.source[id], shared.source.words), scope);
    if (!rule) continue;
    // Aggregates and ranges are not moved.
    const bool is_plain = rule->aggregations.empty() && rule->generations.empty();
    (is_plain ? rules.plain : rules.other).push_back(std::move(*rule));
  }
  const std::vector<normalized_rule> subsumptions = subsumptions_of(shared, planned);
  // A relation derived from a shrinking relation would keep stale tuples.
  const bool loses_rows = planned.recursive && !subsumptions.empty();
  rules.may_factor = shared.may_make_relations() && !loses_rows && !counts_itself(shared, planned);
  for (const stratum_pass& one : stratum_passes) {
    run_and_check(one, shared, rules);
    plan_strata_before(shared);
  }
  plan_stratum(shared, std::move(rules), subsumptions);
}

template <class Pass>
void append_optional(std::span<const Pass> list, std::vector<optional_pass>& all) {
  for (const Pass& one : list) {
    if (!one.is_required) all.push_back({one.name, one.description, one.has_modes, one.is_on_request});
  }
}

/// An unknown name of a pass would have no effect.
[[maybe_unused]] bool are_optional(const tuning_modes& modes) {
  const std::vector<optional_pass> all = optional_passes();
  return std::all_of(modes.begin(), modes.end(), [&](const tuning_modes::entry& mode) {
    return std::any_of(all.begin(), all.end(), [&](const optional_pass& one) { return one.name == mode.first; });
  });
}

}  // namespace

std::span<const schedule_pass> schedule_passes() { return schedules; }
std::span<const version_pass> version_passes() { return versions; }

std::vector<optional_pass> optional_passes() {
  std::vector<optional_pass> all;
  append_optional(std::span<const source_pass>(source_passes), all);
  append_optional(std::span<const program_pass>(program_passes), all);
  append_optional(std::span<const rule_pass>(rule_passes), all);
  append_optional(std::span<const stratum_pass>(stratum_passes), all);
  all.push_back({supplementary_pass,
                 "store intermediate joins of recursive rules that drop variables, unless they cost too much", true});
  append_optional(std::span<const schedule_pass>(schedules), all);
  append_optional(std::span<const version_pass>(versions), all);
  append_optional(std::span<const program_pass>(plan_passes), all);
  return all;
}

rewritten_source rewrite_source(const sema::program& source, const statistics& known, const options& chosen) {
  rewritten_source result;
  for (const source_pass& one : source_passes) {
    if (chosen.modes.is_off(one.name)) continue;
    const auto begin = std::chrono::steady_clock::now();
    magic_program made = one.run(result.program ? *result.program : source, known, chosen);
    if (made.program) result.program = std::move(made.program);
    result.remarks.insert(result.remarks.end(), made.remarks.begin(), made.remarks.end());
    const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - begin;
    result.pass_times[std::string(one.name)] += taken.count();
  }
  return result;
}

void run_passes(planning& shared) {
  assert(are_optional(shared.chosen.modes));
  for (const program_pass& one : program_passes) run_and_check(one, shared);
  for (const sema::stratum& planned : shared.source.strata) {
    // Relations that depend on each other are needed together.
    if (shared.needed[planned.relations.front().value]) plan(shared, planned);
  }
  for (const program_pass& one : plan_passes) run_and_check(one, shared);
  shared.result.words = shared.source.words;
  shared.result.symbols = shared.source.symbols;
  shared.result.symbols_of_engine = shared.source.symbols_of_engine;
  for (const user_functor& functor : shared.source.functors) shared.result.functors.push_back(functor.name);
  assert(validate(shared.result).empty());
}

program make_plan(const sema::program& source, const statistics& known, const options& chosen) {
  planning shared(source, known, chosen);
  run_passes(shared);
  return std::move(shared.result);
}

}  // namespace gpulog::plan
