#include "plan/passes/demand/magic_transform.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <sstream>
#include <string_view>
#include <utility>

#include "plan/cost/calibration.hpp"
#include "plan/passes/demand/right_linear.hpp"
#include "plan/passes/demand/sideways_passing.hpp"
#include "sema/order_dependence.hpp"
#include "sema/print.hpp"
#include "sema/rewriting/expressions.hpp"
#include "sema/stratification.hpp"

namespace gpulog::plan {
namespace {

std::set<std::string> names_in(const sema::program& source, const std::string& pragma) {
  std::set<std::string> names;
  const auto found = source.pragmas.find(pragma);
  if (found == source.pragmas.end()) return names;
  std::istringstream list(found->second);
  for (std::string name; std::getline(list, name, ',');) names.insert(name);
  return names;
}

void for_each_atom(const std::vector<sema::literal>& body, const std::function<void(const sema::atom&)>& visit) {
  for (const sema::literal& part : body) {
    if (const auto* read = std::get_if<sema::atom>(&part)) visit(*read);
    if (const auto* folded = std::get_if<sema::aggregate>(&part)) for_each_atom(folded->body, visit);
  }
}

bool grows(const sema::rule& rule) {
  return std::any_of(rule.body.begin(), rule.body.end(), [](const sema::literal& part) {
    const auto* folded = std::get_if<sema::aggregate>(&part);
    return folded != nullptr && folded->grows;
  });
}

/// The changes that the transformation may apply to each relation.
class permissions {
 public:
  permissions(const sema::program& source, const options& chosen)
      : source_(source), further_(sema::further_dependencies(source)), is_wanted_(source.relations.size()) {
    for (std::size_t number = 0; number < is_wanted_.size(); ++number) {
      const sema::relation& relation = source.relations[number];
      is_wanted_[number] = relation.has_directive(sema::directive_kind::output) ||
                           relation.has_directive(sema::directive_kind::printsize);
    }
    find_frozen();
    find_special();
    find_candidates();
    find_named(chosen);
    find_recursive();
  }

  /// Returns whether an output needs the full relation.
  [[nodiscard]] bool is_wanted(relation_id id) const { return is_wanted_[id.value]; }
  /// Returns whether the relation's rules, and everything that they read, must not change: a later rule depends on the
  /// order of tuples.
  [[nodiscard]] bool is_frozen(relation_id id) const { return frozen_[id.value]; }
  /// Returns whether the relation's stratum must not change.
  [[nodiscard]] bool is_special(relation_id id) const { return special_[id.value]; }
  [[nodiscard]] bool may_be_asked(relation_id id) const { return candidate_[id.value]; }
  void forbid(relation_id id) { candidate_[id.value] = false; }
  /// Returns whether a program or a flag names the relation.
  [[nodiscard]] bool is_named(relation_id id) const { return named_[id.value]; }
  /// Returns whether the relation is recursive or derived from a recursive relation.
  [[nodiscard]] bool needs_recursion(relation_id id) const { return recursive_[id.value]; }
  [[nodiscard]] const std::vector<sema::dependency>& further() const { return further_; }

 private:
  /// Calls visit(rule) for the rules and subsumptions of a relation.
  template <class Visit>
  void for_each_rule(std::uint32_t number, const Visit& visit) const {
    for (const rule_id id : source_.relations[number].rules) visit(source_[id]);
    for (const std::uint32_t one : source_.relations[number].subsumptions) visit(source_.subsumptions[one]);
  }

  void find_frozen() {
    frozen_.resize(source_.relations.size());
    std::vector<std::uint32_t> open;
    const auto freeze = [&](std::uint32_t number) {
      if (frozen_[number]) return;
      frozen_[number] = true;
      open.push_back(number);
    };
    const bool has_state = sema::has_stateful_functors(source_);
    for (std::uint32_t number = 0; number < frozen_.size(); ++number) {
      const sema::relation& relation = source_.relations[number];
      if (!relation.choice_domains.empty() || relation.size_limit) freeze(number);
      for_each_rule(number, [&](const sema::rule& rule) {
        if (sema::notices_order(rule, has_state)) freeze(number);
      });
    }
    for (const sema::dependency& edge : further_) {
      freeze(edge.from.value);
      freeze(edge.to.value);
    }
    while (!open.empty()) {
      const std::uint32_t number = open.back();
      open.pop_back();
      for_each_rule(number, [&](const sema::rule& rule) {
        for_each_atom(rule.body, [&](const sema::atom& read) { freeze(read.relation.value); });
      });
    }
  }

  void find_special() {
    special_ = frozen_;
    for (std::uint32_t number = 0; number < special_.size(); ++number) {
      const sema::relation& relation = source_.relations[number];
      special_[number] = special_[number] || !relation.subsumptions.empty() || !relation.lattices.empty() ||
                         relation.is_aggregate || relation.structure == sema::representation::eqrel;
      for_each_rule(number, [&](const sema::rule& rule) {
        special_[number] = special_[number] || !rule.plans.empty() || grows(rule);
      });
    }
  }

  void find_candidates() {
    candidate_.resize(source_.relations.size());
    const std::set<std::string> excluded = names_in(source_, "magic-transform-exclude");
    for (const sema::stratum& stratum : source_.strata) {
      const bool is_plain = std::none_of(stratum.relations.begin(), stratum.relations.end(),
                                         [&](relation_id member) { return special_[member.value]; });
      for (const relation_id member : stratum.relations) {
        const sema::relation& relation = source_[member];
        const bool is_excluded =
            relation.is_not_magic || excluded.contains("*") || excluded.contains(relation.name) || relation.is_inline;
        candidate_[member.value] =
            is_plain && !is_excluded && !is_wanted_[member.value] && !relation.rules.empty() && relation.arity() > 0;
      }
    }
  }

  void find_named(const options& chosen) {
    const std::set<std::string> names = names_in(source_, "magic-transform");
    const bool all = chosen.modes.is_always("magic-transform") || names.contains("*");
    for (const sema::relation& relation : source_.relations) {
      named_.push_back(all || relation.is_magic || names.contains(relation.name));
    }
  }

  void find_recursive() {
    recursive_.resize(source_.relations.size());
    for (const sema::stratum& stratum : source_.strata) {
      bool reaches = stratum.recursive;
      for (const rule_id id : stratum.rules) {
        for_each_atom(source_[id].body, [&](const sema::atom& read) {
          reaches = reaches || (recursive_[read.relation.value] && candidate_[read.relation.value]);
        });
      }
      for (const relation_id member : stratum.relations) recursive_[member.value] = reaches;
    }
  }

  const sema::program& source_;
  std::vector<sema::dependency> further_;
  std::vector<bool> is_wanted_, frozen_, special_, candidate_, named_, recursive_;
};

/// Traverses all rules that the outputs need, and collects goals.
class goal_finder final : public goal_reader {
 public:
  goal_finder(const sema::program& source, const permissions& allowed)
      : source_(source), allowed_(allowed), is_full_(source.relations.size()) {}

  /// Repeats the search until no further relation is read in full and no adornment of a relation subsumes another.
  /// @return whether goals exist
  bool run() {
    do {
      changed_ = false;
      goals_.clear();
      go_through();
      widen();
    } while (changed_);
    return !goals_.empty();
  }

  [[nodiscard]] const std::map<relation_id, std::set<adornment>>& goals() const { return goals_; }
  [[nodiscard]] bool is_full(relation_id id) const { return is_full_[id.value]; }
  /// Returns whether outputs need the relation's own rules.
  [[nodiscard]] bool is_reached(relation_id id) const { return reached_.contains(id); }

  [[nodiscard]] bool may_ask(relation_id relation) const override {
    return allowed_.may_be_asked(relation) && !is_full_[relation.value];
  }

  std::optional<goal> ask(relation_id relation, const adornment& constants, const adornment& bound) override {
    std::optional<goal> asked = goal_of(relation, constants, bound);
    if (!asked) {
      is_full_[relation.value] = changed_ = true;
      reach(relation);
    } else if (goals_[relation].insert(asked->bound).second) {
      open_goals_.push_back(*asked);
    }
    return asked;
  }

  /// Returns the result of ask() after all goals have been found.
  [[nodiscard]] std::optional<goal> goal_of(relation_id relation, const adornment& constants,
                                            const adornment& bound) const {
    const bool all_ways = for_goal_ || allowed_.is_named(relation);
    if (!all_ways && !allowed_.needs_recursion(relation)) return std::nullopt;
    goal asked{relation, all_ways ? bound : constants};
    if (!binds_anything(asked.bound)) return std::nullopt;
    if (const auto known = widest_.find(relation); known != widest_.end()) {
      for (const adornment& wide : known->second) {
        if (is_wider(wide, asked.bound)) asked.bound = wide;
      }
    }
    return asked;
  }

  [[nodiscard]] goal_relations relations_of(const goal&) override { return {}; }
  void add_magic_rule(sema::rule) override {}
  /// Sets whether the following rules belong to a goal. Rules of a goal may demand any known value; rules of complete
  /// relations, by default, only constants.
  void begin_rules_of(bool goal) { for_goal_ = goal; }

 private:
  static bool is_wider(const adornment& wide, const adornment& bound) {
    for (std::size_t column = 0; column < wide.size(); ++column) {
      if (wide[column] && !bound[column]) return false;
    }
    return true;
  }

  void reach(relation_id relation) {
    if (reached_.insert(relation).second) open_.push_back(relation);
  }

  void go_through() {
    reached_.clear();
    for (std::uint32_t number = 0; number < source_.relations.size(); ++number) {
      if (allowed_.is_wanted(relation_id(number))) reach(relation_id(number));
    }
    while (!open_.empty() || !open_goals_.empty()) {
      if (!open_.empty()) {
        const relation_id next = open_.back();
        open_.pop_back();
        begin_rules_of(false);
        for (const rule_id id : source_[next].rules) go_through_rule(source_[id], std::nullopt);
        for (const std::uint32_t number : source_[next].subsumptions) read_in_full(source_.subsumptions[number]);
      } else {
        const goal next = open_goals_.back();
        open_goals_.pop_back();
        begin_rules_of(true);
        for (const rule_id id : source_[next.relation].rules) go_through_rule(source_[id], next);
      }
    }
  }

  void go_through_rule(const sema::rule& rule, const std::optional<goal>& head) {
    if (allowed_.is_frozen(rule.head.relation) || grows(rule)) return read_in_full(rule);
    static_cast<void>(pass_sideways(rule, head, *this));
    for_each_atom(rule.body, [&](const sema::atom& read) {
      if (!may_ask(read.relation)) reach(read.relation);
    });
  }

  void read_in_full(const sema::rule& rule) {
    for_each_atom(rule.body, [&](const sema::atom& read) {
      if (may_ask(read.relation)) is_full_[read.relation.value] = changed_ = true;
      reach(read.relation);
    });
  }

  /// Merges goals: a goal that binds a subset of another goal's columns also answers the other goal.
  void widen() {
    for (const auto& [relation, bounds] : goals_) {
      if (is_full_[relation.value]) continue;
      for (const adornment& wide : bounds) {
        const bool answers_others = std::any_of(bounds.begin(), bounds.end(), [&](const adornment& other) {
          return other != wide && is_wider(wide, other);
        });
        if (answers_others && widest_[relation].insert(wide).second) changed_ = true;
      }
      if (bounds.size() > calibration::most_goals && !changed_) is_full_[relation.value] = changed_ = true;
    }
  }

  const sema::program& source_;
  const permissions& allowed_;
  std::vector<bool> is_full_;
  std::map<relation_id, std::set<adornment>> goals_;
  std::map<relation_id, std::set<adornment>> widest_;
  std::set<relation_id> reached_;
  std::vector<relation_id> open_;
  std::vector<goal> open_goals_;
  bool for_goal_ = false;
  bool changed_ = false;
};

/// Builds the transformed program from the goals.
class program_maker final : public goal_reader {
 public:
  program_maker(const sema::program& source, const permissions& allowed, goal_finder& found, const statistics& known)
      : source_(source), allowed_(allowed), found_(found), known_(known), made_(source) {}

  sema::program run() {
    add_relations();
    made_.rules.clear();
    const std::vector<bool> is_running = running_rules();
    for (const sema::rule& rule : source_.rules) {
      const relation_id head = rule.head.relation;
      if (asked_.contains(head) || !is_running[rule.id.value]) continue;
      const bool changes = found_.is_reached(head) && !allowed_.is_frozen(head) && !grows(rule);
      found_.begin_rules_of(false);
      add_rule(changes ? pass_sideways(rule, std::nullopt, *this) : rule, changes);
    }
    for (const auto& [asked, relations] : relations_) {
      found_.begin_rules_of(true);
      add_loaded_rows(asked, relations);
      for (const rule_id id : source_[asked.relation].rules) {
        sema::rule answering = pass_sideways(source_[id], asked, *this);
        answering.plans.clear();
        add_rule(std::move(answering), true);
      }
    }
    for (sema::rule& magic : magic_rules_) add_rule(std::move(magic), true);
    return std::move(made_);
  }

  [[nodiscard]] const std::map<goal, goal_relations>& relations() const { return relations_; }
  /// Returns the relations of the program that have goals.
  [[nodiscard]] const std::set<relation_id>& asked() const { return asked_; }

  [[nodiscard]] bool may_ask(relation_id relation) const override { return found_.may_ask(relation); }
  std::optional<goal> ask(relation_id relation, const adornment& constants, const adornment& bound) override {
    return found_.goal_of(relation, constants, bound);
  }
  goal_relations relations_of(const goal& asked) override { return relations_.at(asked); }
  void add_magic_rule(sema::rule rule) override {
    if (!rule.body.empty()) return magic_rules_.push_back(std::move(rule));
    sema::fact fact{rule.head.relation, {}, rule.head.span};
    for (const sema::expression& argument : rule.head.arguments) fact.values.push_back(argument.constant);
    if (constants_.emplace(fact.relation, fact.values).second) made_.facts.push_back(std::move(fact));
  }

 private:
  /// Returns, by rule, whether its relation has the rule. An engine that evaluates again takes away the rules of
  /// relations that stay as they are.
  [[nodiscard]] std::vector<bool> running_rules() const {
    std::vector<bool> running(source_.rules.size());
    for (const sema::relation& relation : source_.relations) {
      for (const rule_id id : relation.rules) running[id.value] = true;
    }
    return running;
  }

  void add_relations() {
    for (const auto& [relation, bounds] : found_.goals()) {
      if (found_.is_full(relation)) continue;
      asked_.insert(relation);
      std::uint32_t made = 0;
      for (const adornment& bound : bounds) {
        goal_relations& added = relations_[{relation, bound}];
        added.answers = add_relation(relation, ++made, adornment(bound.size(), true));
        added.asked = add_relation(relation, ++made, bound);
      }
    }
  }

  relation_id add_relation(relation_id made_for, std::uint32_t number, const adornment& columns) {
    const sema::relation& original = source_[made_for];
    sema::relation added;
    added.name = fmt::format("{}@{}", original.name, number);
    for (std::size_t column = 0; column < columns.size(); ++column) {
      if (columns[column]) added.attributes.push_back(original.attributes[column]);
    }
    added.made_for = made_for;
    added.span = original.span;
    made_.relations.push_back(std::move(added));
    return relation_id(static_cast<std::uint32_t>(made_.relations.size() - 1));
  }

  void add_rule(sema::rule rule, bool has_changed) {
    rule.id = rule_id(static_cast<std::uint32_t>(made_.rules.size()));
    if (has_changed) rule.text = sema::source_text(made_, rule);
    made_.rules.push_back(std::move(rule));
  }

  /// Adds a rule that copies loaded rows and facts, which stay in the original relation, to the answers.
  void add_loaded_rows(const goal& asked, const goal_relations& relations) {
    const sema::relation& original = source_[asked.relation];
    const std::size_t number = asked.relation.value;
    const bool is_loaded = original.has_directive(sema::directive_kind::input) ||
                           (number < known_.relations.size() && known_.relations[number].is_loaded) ||
                           std::any_of(source_.facts.begin(), source_.facts.end(),
                                       [&](const sema::fact& fact) { return fact.relation == asked.relation; });
    if (!is_loaded) return;
    sema::rule rule;
    rule.span = rule.head.span = original.span;
    rule.head.relation = relations.answers;
    sema::atom loaded;
    loaded.relation = asked.relation;
    sema::atom guard;
    guard.relation = relations.asked;
    for (std::uint32_t column = 0; column < original.arity(); ++column) {
      const sema::attribute& attribute = original.attributes[column];
      rule.variables.push_back({attribute.name, attribute.kind});
      const sema::expression value = sema::variable_of(attribute.kind, column);
      rule.head.arguments.push_back(value);
      loaded.arguments.push_back(value);
      if (asked.bound[column]) guard.arguments.push_back(value);
    }
    rule.body = {std::move(guard), std::move(loaded)};
    add_rule(std::move(rule), true);
  }

  const sema::program& source_;
  const permissions& allowed_;
  goal_finder& found_;
  const statistics& known_;
  sema::program made_;
  std::map<goal, goal_relations> relations_;
  std::set<relation_id> asked_;
  std::vector<sema::rule> magic_rules_;
  std::set<std::pair<relation_id, std::vector<wide_word>>> constants_;
};

/// Withdraws goals that would create a cycle with a negation or an aggregate, and goals that would join a stratum that
/// must not change.
/// @return whether goals were withdrawn
bool withdraw(const sema::program& made, const std::vector<bool>& is_cyclic, std::size_t own_relations,
              permissions& allowed) {
  bool withdrawn = false;
  for (std::size_t number = 0; number < made.strata.size(); ++number) {
    const std::vector<relation_id>& members = made.strata[number].relations;
    const bool is_special = std::any_of(members.begin(), members.end(), [&](relation_id member) {
      return member.value < own_relations && allowed.is_special(member);
    });
    if (!is_cyclic[number] && !is_special) continue;
    for (const relation_id member : members) {
      if (!made[member].made_for.valid()) continue;
      allowed.forbid(made[member].made_for);
      withdrawn = true;
    }
  }
  return withdrawn;
}

/// @param turned relations that must become goals; otherwise the result is empty
magic_program transform(const sema::program& source, const statistics& known, const options& chosen,
                        const std::set<relation_id>& turned) {
  magic_program result;
  permissions allowed(source, chosen);
  while (true) {
    goal_finder finder(source, allowed);
    if (!finder.run()) return result;
    const auto is_goal = [&](relation_id id) { return finder.goals().contains(id) && !finder.is_full(id); };
    if (!std::all_of(turned.begin(), turned.end(), is_goal)) return result;
    program_maker maker(source, allowed, finder, known);
    sema::program made = maker.run();
    const std::vector<bool> is_cyclic = sema::stratify_again(made, allowed.further());
    if (withdraw(made, is_cyclic, source.relations.size(), allowed)) continue;
    for (const auto& [asked, relations] : maker.relations()) {
      result.remarks.push_back(fmt::format("{}: tuples of {} that are needed ({}), with keys from {}",
                                           made[relations.answers].name, source[asked.relation].name,
                                           to_text(asked.bound), made[relations.asked].name));
    }
    result.program = std::move(made);
    return result;
  }
}

}  // namespace

magic_program transform_by_magic_sets(const sema::program& source, const statistics& known, const options& chosen) {
  if (!chosen.modes.is_always("unneeded-relations")) return {};
  const permissions as_written(source, chosen);
  const std::optional<linear_program> linear = turn_right_linear(source, [&](relation_id id) {
    const bool is_loaded = id.value < known.relations.size() && known.relations[id.value].is_loaded;
    return as_written.may_be_asked(id) && !is_loaded;
  });
  if (linear) {
    magic_program result = transform(linear->program, known, chosen, linear->turned);
    if (result.program) return result;
  }
  return transform(source, known, chosen, {});
}

}  // namespace gpulog::plan
