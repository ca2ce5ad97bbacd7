#include "plan/planner.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <deque>
#include <iterator>
#include <map>
#include <set>
#include <utility>

#include "plan/bounded_ranges.hpp"
#include "plan/cost_model.hpp"
#include "plan/decomposition.hpp"
#include "plan/demand.hpp"
#include "plan/demand_choice.hpp"
#include "plan/distinct_rows.hpp"
#include "plan/draft.hpp"
#include "plan/draft_strata.hpp"
#include "plan/existence.hpp"
#include "plan/join_order.hpp"
#include "plan/late_records.hpp"
#include "plan/normalized_rule.hpp"
#include "plan/pivot_steps.hpp"
#include "plan/record_patterns.hpp"
#include "plan/repetitions.hpp"
#include "plan/rule_text.hpp"
#include "plan/shared_bodies.hpp"
#include "plan/subsumption.hpp"
#include "plan/supplementary.hpp"
#include "plan/validate.hpp"
#include "sema/needed_relations.hpp"

namespace gpulog::plan {
namespace {

/// The order that `.plan` gives for a version, if it is one of all atoms.
const std::vector<std::uint32_t>* forced_order(const normalized_rule& rule, std::uint32_t version) {
  for (const sema::execution_order& written : rule.plans) {
    if (written.version != version || written.order.size() != rule.atoms.size()) continue;
    std::vector<std::uint32_t> positions = written.order;
    std::sort(positions.begin(), positions.end());
    for (std::uint32_t position = 0; position < positions.size(); ++position) {
      if (positions[position] != position) return nullptr;
    }
    return &written.order;
  }
  return nullptr;
}

class planner {
 public:
  planner(const sema::program& source, const statistics& known, const options& chosen)
      : source_(source),
        chosen_(chosen),
        costs_(source, known),
        demands_(source, known, chosen.demand, costs_, relation_namer_) {}

  program make() {
    add_relations();
    add_facts();
    leave_out_unneeded();
    if (makes_supplementary()) shared_.emplace(source_, needed_);
    for (const sema::stratum& planned : source_.strata) {
      if (is_needed(planned)) plan_stratum(planned);
    }
    const bool intersects = chosen_.intersections == intersection_mode::automatic;
    finish_strata(strata_, {costs_, arities_, equivalences_}, intersects, result_);
    if (chosen_.deduplication == deduplication_mode::where_needed) drop_needless_sets(result_);
    result_.words = source_.words;
    result_.symbols = source_.symbols;
    for (const user_functor& functor : source_.functors) result_.functors.push_back(functor.name);
    assert(validate(result_).empty());
    return std::move(result_);
  }

 private:
  void leave_out_unneeded() {
    needed_ = std::vector<bool>(source_.relations.size(), true);
    if (chosen_.unneeded == unneeded_mode::planned) return;
    needed_ = sema::needed_relations(source_);
    std::vector<std::string> names;
    for (std::uint32_t number = 0; number < needed_.size(); ++number) {
      const sema::relation& relation = source_.relations[number];
      result_.relations[number].is_left_out = !needed_[number];
      if (!needed_[number] && !relation.is_inline) names.push_back(relation.name);
    }
    if (!names.empty()) result_.remarks.push_back(fmt::format("no output needs, left out: {}", fmt::join(names, ", ")));
    std::erase_if(result_.facts, [this](const fact_block& block) { return !needed_[block.relation.value]; });
  }

  /// Relations that depend on each other are needed together.
  [[nodiscard]] bool is_needed(const sema::stratum& stratum) const { return needed_[stratum.relations.front().value]; }

  void add_relations() {
    for (const sema::relation& declared : source_.relations) {
      relation added;
      added.name = declared.name;
      for (const sema::attribute& attribute : declared.attributes) {
        added.attribute_names.push_back(attribute.name);
        added.kinds.push_back(attribute.kind);
      }
      added.size_limit = declared.size_limit.value_or(0);
      added.choice_domains = declared.choice_domains;
      added.is_equivalence = declared.structure == sema::representation::eqrel;
      arities_.push_back(declared.arity());
      if (added.is_equivalence) equivalences_.insert(relation_id(static_cast<std::uint32_t>(result_.relations.size())));
      result_.relations.push_back(std::move(added));
    }
  }

  /// Every element of an equivalence relation is its own partner: `r(x,x)` asks what `r(x,_)` does.
  void mark_equivalences(normalized_rule& rule) const {
    for (body_atom& atom : rule.atoms) {
      atom.is_equivalence = equivalences_.contains(atom.relation);
      if (atom.is_equivalence && atom.arguments[0].is_variable() && atom.arguments[0] == atom.arguments[1]) {
        atom.arguments[1].what = term::form::unnamed;
      }
    }
  }

  void add_facts() {
    std::vector<std::size_t> block_of(source_.relations.size(), source_.facts.size());
    for (const sema::fact& fact : source_.facts) {
      std::size_t& block = block_of[fact.relation.value];
      if (block == source_.facts.size()) {
        block = result_.facts.size();
        result_.facts.push_back({fact.relation, {}, 0});
      }
      fact_block& extended = result_.facts[block];
      extended.values.insert(extended.values.end(), fact.values.begin(), fact.values.end());
      ++extended.rows;
    }
  }

  void plan_stratum(const sema::stratum& planned) {
    stratum_rules own;
    own.members = planned.relations;
    for (const rule_id id : planned.rules) {
      normalized_rule rule = normalize(source_[id], source_.words);
      compare_bounds(rule);
      drop_repeated_literals(rule);
      keep_named(rule);
      mark_equivalences(rule);
      if (chosen_.count_existence) count_existence(rule, planned.recursive ? planned.relations : none_);
      if (makes_supplementary()) search_fields(rule, planned.recursive ? planned.relations : none_);
      if (shared_) read_shared_body(rule);
      if (rule.unsatisfiable) {
        result_.remarks.push_back(fmt::format("never holds, left out: {}", rule.text));
      } else {
        own.plain.push_back(std::move(rule));
      }
    }

    if (const std::size_t dropped = drop_repeated_rules(own.plain); dropped != 0) {
      result_.remarks.push_back(fmt::format("{} rules of {} are the same as others, left out", dropped,
                                            relation_namer_(planned.relations.front())));
    }

    const std::vector<normalized_rule> subsumptions = subsumptions_of(planned);
    // Relations made from one that loses rows would keep what they have of them.
    const bool loses_rows = planned.recursive && !subsumptions.empty();
    const bool may_factor = makes_supplementary() && !loses_rows && !counts_itself(planned);

    // Aggregates and ranges stay where they are.
    const auto is_plain = [](const normalized_rule& rule) {
      return rule.aggregations.empty() && rule.generations.empty();
    };
    const auto plain_end = std::stable_partition(own.plain.begin(), own.plain.end(), is_plain);
    own.other.assign(std::make_move_iterator(plain_end), std::make_move_iterator(own.plain.end()));
    own.plain.erase(plain_end, own.plain.end());

    if (may_factor) own.patterns = extract_patterns(own.plain, planned);
    if (planned.recursive && may_factor) make_steps(own);
    restricted_rules restricted;
    if (planned.recursive && may_factor) restricted = restrict_by_demand(own);
    const std::size_t number = strata_.size();
    draft_stratum& target = strata_.emplace_back();
    target.recursive = planned.recursive;
    for (const normalized_rule& rule : subsumptions) target.losing.insert(rule.head);
    plan_rules(std::move(own), target, may_factor);
    for (const normalized_rule& rule : subsumptions) {
      draft_subsumption& added =
          target.subsumptions.emplace_back(build_subsumption(rule, tested_atoms(rule, target), costs_, arities_));
      for (std::size_t atom = 2; atom < rule.atoms.size(); ++atom) {
        const relation_id read = rule.atoms[atom].relation;
        if (is_member(target, read)) added.planned.changing.push_back(read);
      }
    }
    find_best(target);
    if (!restricted.made.empty()) plan_in_full(number, std::move(restricted), planned.relations);
  }

  /// What several heads of a clause need is made once, in a stratum before.
  void read_shared_body(normalized_rule& rule) {
    const auto made = shared_->share(rule, relation_maker_, relation_namer_);
    if (!made) return;
    draft_stratum& before = strata_.emplace_back();
    before.relations = {made->head};
    costs_.learn_distinct_values(*made);
    plan_rule(*made, before, 0);
    before.once.advance = before.relations;
    result_.remarks.push_back(fmt::format("{}: the body of {} rules in {}, made once", relation_namer_(made->head),
                                          shared_->readers(), made->location));
  }

  /// Whether an aggregate reads relations of its own recursion, as they are.
  [[nodiscard]] bool counts_itself(const sema::stratum& planned) const {
    return std::any_of(planned.rules.begin(), planned.rules.end(), [this](const rule_id id) {
      const std::vector<sema::literal>& body = source_[id].body;
      return std::any_of(body.begin(), body.end(), [](const sema::literal& part) {
        const auto* folded = std::get_if<sema::aggregate>(&part);
        return folded != nullptr && folded->grows;
      });
    });
  }

  void plan_rules(stratum_rules own, draft_stratum& target, bool may_factor) {
    target.relations = own.members;
    if (target.recursive && may_factor) {
      factored_stratum factored = factor_rules(std::move(own.plain), own.members, std::move(own.patterns));
      target.relations.insert(target.relations.end(), factored.added.begin(), factored.added.end());
      target.loop.resize(factored.own_level + 1);
      for (std::size_t number = 0; number < factored.added.size(); ++number) {
        target.loop[factored.levels[number]].advance.push_back(factored.added[number]);
      }
      learn_from(factored);
      for (const factored_rule& planned_rule : factored.rules) plan_rule(planned_rule.rule, target, planned_rule.level);
    } else {
      if (target.recursive) target.loop.resize(1);
      for (const normalized_rule& rule : own.plain) plan_rule(rule, target, 0);
    }
    for (const normalized_rule& rule : own.other) {
      plan_rule(rule, target, target.recursive ? static_cast<std::uint32_t>(target.loop.size() - 1) : 0);
    }
    if (target.recursive) target.loop.back().advance = own.members;
    target.once.advance = target.relations;
  }

  /// Remarks, and what the rules of relations that were made say of their values.
  void learn_from(factored_stratum& factored) {
    for (const factored_rule& made : factored.rules) {
      if (made.rule.head.value >= source_.relations.size()) costs_.learn_distinct_values(made.rule);
    }
    std::move(factored.remarks.begin(), factored.remarks.end(), std::back_inserter(result_.remarks));
  }

  /// Steps of a fixpoint that falls apart, in a stratum before.
  void make_steps(stratum_rules& stratum) {
    if (chosen_.pivot_steps == pivot_step_mode::off || !stratum.other.empty() || !stratum.patterns.empty()) return;
    const bool may = std::all_of(stratum.members.begin(), stratum.members.end(),
                                 [this](relation_id id) { return may_fall_apart(result_.relations[id.value]); });
    if (!may) return;
    std::vector<normalized_rule> steps = make_pivot_steps(stratum.plain, stratum.members, relation_maker_);
    for (normalized_rule& step : steps) {
      const std::string rule = std::exchange(step.text, text_of(step, source_, relation_namer_));
      result_.remarks.push_back(fmt::format("{}: all that {} asks from one row to the next, made once, before",
                                            relation_namer_(step.head), rule));
    }
    plan_before(steps);
  }

  // ---- restriction by demand ----------------------------------------------------------------------------------------

  struct restricted_rules {
    std::vector<restriction> made;
    stratum_rules whole;  ///< without them
  };

  restricted_rules restrict_by_demand(stratum_rules& stratum) {
    restricted_rules result;
    std::vector<restriction>& made = result.made;
    if (demands_.is_off()) return result;
    const auto prefers = [this](column_place first, column_place second) { return demands_.prefers(first, second); };
    while (const auto chosen = demands_.choose(restrictions_.find(stratum, prefers), result_.remarks)) {
      if (made.empty()) result.whole = stratum;
      const std::size_t patterns = stratum.patterns.size();
      restriction& added = made.emplace_back(restrictions_.apply(chosen->asked, stratum));
      std::vector<std::string> reasons;
      double all = 1;
      for (std::size_t number = 0; number < added.values.size(); ++number) {
        const std::uint32_t column = chosen->asked.columns[number].column;
        share_asked_[added.values[number]] = chosen->shares[number];
        all *= chosen->shares[number];
        reasons.push_back(fmt::format("{} in {}, {:.2g} % of its values",
                                      result_.relations[added.relation.value].attribute_names[column],
                                      relation_namer_(added.values[number]), 100 * chosen->shares[number]));
      }
      costs_.set_rows(added.restricted, costs_.rows(added.relation, part::all) * all);
      for (std::size_t number = patterns; number < stratum.patterns.size(); ++number) {
        expect_rows(stratum.patterns[number]);
      }
      result_.remarks.push_back(
          fmt::format("{}: what the recursion asks for of {} ({}); all of it is made once, behind",
                      relation_namer_(added.restricted), relation_namer_(added.relation), fmt::join(reasons, "; ")));
      plan_before(added.before);
    }
    return result;
  }

  /// What a stratum with restrictions leaves: the relations that it has a part of and, if it is given up, the stratum
  /// without restrictions.
  void plan_in_full(std::size_t number, restricted_rules restricted, const std::vector<relation_id>& members) {
    if (demands_.is_watched()) {
      restriction_watch& watch = strata_[number].watch.emplace();
      for (restriction& one : restricted.made) {
        watch.relations.push_back({one.relation, one.restricted, std::move(one.reads)});
      }
      draft_stratum& whole = strata_.emplace_back();
      whole.recursive = true;
      whole.only_if = {number, true};
      plan_rules(std::move(restricted.whole), whole, true);
    }
    const std::size_t behind = strata_.size();
    // The full rules of a relation may read those that were restricted after it.
    for (auto one = restricted.made.rbegin(); one != restricted.made.rend(); ++one) {
      plan_behind(one->relation, std::move(one->full), members);
    }
    if (!demands_.is_watched()) return;
    for (std::size_t added = behind; added < strata_.size(); ++added) strata_[added].only_if = {number, false};
  }

  /// Of a rule with one atom in front of tests.
  void expect_rows(const normalized_rule& rule) {
    if (rule.atoms.empty()) return costs_.set_rows(rule.head, 1);
    double rows = costs_.rows(rule.atoms.front().relation, part::all);
    for (const body_atom& test : rule.atoms) {
      const auto share = share_asked_.find(test.relation);
      if (share != share_asked_.end()) rows *= share->second;
    }
    costs_.set_rows(rule.head, rows);
  }

  /// Strata of relations without recursion; rules of one relation stand together.
  void plan_before(const std::vector<normalized_rule>& rules) {
    for (std::size_t first = 0; first < rules.size();) {
      const relation_id head = rules[first].head;
      draft_stratum& target = strata_.emplace_back();
      target.relations = {head};
      for (; first < rules.size() && rules[first].head == head; ++first) {
        expect_rows(rules[first]);
        costs_.learn_distinct_values(rules[first]);
        plan_rule(rules[first], target, 0);
      }
      target.once.advance = target.relations;
    }
  }

  /// All of a relation, behind the stratum that had only a part of it. Steps that lose variables are relations here
  /// too.
  void plan_behind(relation_id relation, std::vector<normalized_rule> rules, const std::vector<relation_id>& members) {
    const bool is_recursive = std::any_of(rules.begin(), rules.end(), [relation](const normalized_rule& rule) {
      return std::any_of(rule.atoms.begin(), rule.atoms.end(),
                         [relation](const body_atom& atom) { return atom.relation == relation; });
    });
    if (is_recursive) {
      draft_stratum& target = strata_.emplace_back();
      target.recursive = true;
      plan_rules({std::move(rules), {}, {}, {relation}}, target, true);
      return;
    }
    factored_stratum factored = factor_rules(std::move(rules), members, {});
    learn_from(factored);
    const auto plan_relation = [&](relation_id planned) {
      draft_stratum& target = strata_.emplace_back();
      target.relations = {planned};
      for (const factored_rule& made : factored.rules) {
        if (made.rule.head == planned) plan_rule(made.rule, target, 0);
      }
      target.once.advance = target.relations;
    };
    for (std::uint32_t level = 0; level < factored.own_level; ++level) {
      for (std::size_t number = 0; number < factored.added.size(); ++number) {
        if (factored.levels[number] == level) plan_relation(factored.added[number]);
      }
    }
    plan_relation(relation);
  }

  /// Relations with one subsumption, which is by the order of a column. Not where a subsumption reads relations of the
  /// stratum: it could tell when a tuple leaves.
  void find_best(const draft_stratum& planned) {
    for (const draft_subsumption& made : planned.subsumptions) {
      const auto& lattices = source_[made.planned.relation].lattices;
      if (lattices.empty()) continue;
      best_of_key& kept = result_.relations[made.planned.relation.value].best.emplace();
      for (const auto& attribute : lattices) kept.bounds.push_back({attribute.column, attribute.least_upper_bound});
    }
    std::map<relation_id, std::size_t> count;
    for (const draft_subsumption& made : planned.subsumptions) {
      if (!made.planned.changing.empty()) return;
      ++count[made.planned.relation];
    }
    for (const draft_subsumption& made : planned.subsumptions) {
      const relation_id id = made.planned.relation;
      if (!source_[id].lattices.empty()) continue;
      auto best = count[id] == 1 ? best_of(made, arities_[id.value]) : std::nullopt;
      // Values that are no numbers neither are nor have better ones: a subsumption leaves all of them.
      const bool is_floating = best && result_.relations[id.value].kinds[best->column] == value_kind::floating;
      if (is_floating && !source_[id].is_aggregate) best.reset();
      if (best) best->best_first = source_[id].best_first;
      result_.relations[id.value].best = best;
    }
  }

  std::vector<normalized_rule> subsumptions_of(const sema::stratum& planned) {
    std::vector<normalized_rule> result;
    for (const relation_id member : planned.relations) {
      for (const std::uint32_t number : source_[member].subsumptions) {
        normalized_rule rule = normalize(source_.subsumptions[number], source_.words);
        keep_named(rule);
        if (rule.unsatisfiable) {
          result_.remarks.push_back(fmt::format("never holds, left out: {}", rule.text));
        } else {
          result.push_back(std::move(rule));
        }
      }
    }
    return result;
  }

  static bool is_member(const draft_stratum& stratum, relation_id relation) {
    return std::find(stratum.relations.begin(), stratum.relations.end(), relation) != stratum.relations.end();
  }

  /// Atoms that may find rows which a subsumption took away. A non-recursive stratum has none left when they are read.
  static std::vector<bool> tested_atoms(const normalized_rule& rule, const draft_stratum& stratum) {
    std::vector<bool> tested;
    if (!stratum.recursive || stratum.losing.empty()) return tested;
    for (const body_atom& atom : rule.atoms) tested.push_back(stratum.losing.contains(atom.relation));
    return tested;
  }

  /// Where matches are assignments, rows that differ in what has no name are one match: such atoms read relations
  /// without it, which are made in strata before.
  void keep_named(normalized_rule& rule) {
    for (aggregation& folded : rule.aggregations) {
      if (folded.by_assignment) {
        std::vector<normalized_rule> made;
        patterns_.keep_named(folded.body, made);
        plan_before(made);
      }
      keep_named(folded.body);
    }
  }

  /// Aggregates over fields of records read relations of these, which are made in strata before.
  void search_fields(normalized_rule& rule, const std::vector<relation_id>& members) {
    for (aggregation& folded : rule.aggregations) {
      std::vector<normalized_rule> made;
      patterns_.search_fields(folded.body, folded.injected, members, made);
      plan_before(made);
      search_fields(folded.body, members);
    }
  }

  /// Relations for joins on fields: of earlier relations in strata of their own. Returns the rules of the others.
  std::vector<normalized_rule> extract_patterns(std::vector<normalized_rule>& rules, const sema::stratum& planned) {
    const std::vector<relation_id>& members = planned.recursive ? planned.relations : none_;
    std::vector<normalized_rule> made;
    for (normalized_rule& rule : rules) patterns_.extract(rule, members, made);
    std::vector<normalized_rule> within;
    for (normalized_rule& rule : made) {
      result_.remarks.push_back(fmt::format("{}: joined by these in {}", rule.text, rule.location));
      if (std::find(members.begin(), members.end(), rule.atoms.front().relation) != members.end()) {
        within.push_back(std::move(rule));
        continue;
      }
      draft_stratum& before = strata_.emplace_back();
      before.relations = {rule.head};
      plan_rule(rule, before, 0);
      before.once.advance = before.relations;
    }
    return within;
  }

  [[nodiscard]] bool makes_supplementary() const {
    const auto pragma = source_.pragmas.find("supplementary");
    const bool is_off = pragma != source_.pragmas.end() && pragma->second == "off";
    return chosen_.supplementary == supplementary_mode::automatic && !is_off;
  }

  relation_id make_relation(relation_id head, std::vector<std::string> attribute_names, std::vector<value_kind> kinds) {
    const relation_id id(static_cast<std::uint32_t>(result_.relations.size()));
    relation added;
    added.name = fmt::format("{}@{}", result_.relations[head.value].name, ++supplementary_of_[head]);
    added.attribute_names = std::move(attribute_names);
    added.supplementary = true;
    const auto arity = static_cast<std::uint32_t>(kinds.size());
    added.kinds = std::move(kinds);
    arities_.push_back(arity);
    costs_.add_relation(arity, costs_.rows(head, part::all));
    result_.relations.push_back(std::move(added));
    return id;
  }

  factored_stratum factor_rules(std::vector<normalized_rule> rules, const std::vector<relation_id>& members,
                                std::vector<normalized_rule> patterns) {
    return factor(std::move(rules), members, source_, relation_maker_, relation_namer_, std::move(patterns));
  }

  /// One version for each atom of the own stratum. Each combination of rows is then found in exactly one version: the
  /// one whose delta atom is the last that reads a new row. Hence old rows before the delta atom, all rows behind.
  /// `level`: phase of the loop that the versions belong to.
  void plan_rule(const normalized_rule& rule, draft_stratum& target, std::uint32_t level) {
    std::vector<std::uint32_t> recursive;
    for (std::uint32_t atom = 0; atom < rule.atoms.size(); ++atom) {
      if (target.recursive && is_member(target, rule.atoms[atom].relation)) recursive.push_back(atom);
    }
    version_parts parts;
    parts.atoms.assign(rule.atoms.size(), part::all);
    parts.tested = tested_atoms(rule, target);
    if (recursive.empty()) {
      add_version(rule, parts, forced_order(rule, 0), target.once);
      return;
    }
    for (std::uint32_t version = 0; version < recursive.size(); ++version) {
      parts.delta_atom = recursive[version];
      parts.atoms[recursive[version]] = part::delta;
      // A subsumption takes no rows of delta.
      const std::vector<bool> tested = parts.tested;
      if (!tested.empty()) parts.tested[recursive[version]] = false;
      add_version(rule, parts, forced_order(rule, version), target.loop[level]);
      parts.tested = tested;
      parts.atoms[recursive[version]] = part::old;
    }
  }

  void add_version(const normalized_rule& rule, const version_parts& parts, const std::vector<std::uint32_t>* forced,
                   draft_phase& target) {
    schedule order = order_body(rule, parts, costs_, forced);
    delay_records(rule, order.steps);
    draft& added = target.versions.emplace_back(build_draft(rule, parts, order));
    simplify(added, arities_);
  }

  const sema::program& source_;
  const options& chosen_;
  std::vector<bool> needed_;  ///< by relation of the source
  std::optional<shared_bodies> shared_;
  relation_maker relation_maker_ = [this](relation_id head, std::vector<std::string> names,
                                          std::vector<value_kind> kinds) {
    return make_relation(head, std::move(names), std::move(kinds));
  };
  relation_namer relation_namer_ = [this](relation_id id) { return result_.relations[id.value].name; };
  pattern_extraction patterns_{relation_maker_, relation_namer_};
  demand_restriction restrictions_{source_, result_.relations, relation_maker_, relation_namer_};
  cost_model costs_;
  demand_choice demands_;
  std::map<relation_id, double> share_asked_;  // of the values of the columns that are restricted to a relation
  const std::vector<relation_id> none_;
  std::vector<std::uint32_t> arities_;
  std::set<relation_id> equivalences_;
  std::map<relation_id, std::uint32_t> supplementary_of_;  // how many each relation has
  std::deque<draft_stratum> strata_;
  program result_;
};

}  // namespace

program make_plan(const sema::program& source, const statistics& known, const options& chosen) {
  return planner(source, known, chosen).make();
}

}  // namespace gpulog::plan
