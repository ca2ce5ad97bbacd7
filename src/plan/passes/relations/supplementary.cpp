#include "plan/passes/relations/supplementary.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "plan/cost/calibration.hpp"
#include "plan/passes/relations/rule_ends.hpp"
#include "plan/passes/relations/step_candidates.hpp"
#include "plan/rules/constant_folding.hpp"
#include "plan/rules/variable_set.hpp"

namespace gpulog::plan {
namespace {

class stratum_factoring {
 public:
  stratum_factoring(std::vector<normalized_rule> rules, const std::vector<relation_id>& members,
                    const sema::program& source, const relation_maker& make_relation, const relation_namer& name_of)
      : rules_(std::move(rules)),
        removed_(rules_.size()),
        recursive_(members.begin(), members.end()),
        source_(source),
        make_relation_(make_relation),
        name_of_(name_of),
        ends_(rules_, recursive_) {}

  factored_stratum run(std::vector<normalized_rule> patterns, bool makes_steps) {
    for (normalized_rule& pattern : patterns) {
      add_relation(pattern.head, 0);
      recursive_.insert(pattern.head);
      result_.rules.push_back({std::move(pattern), 0});
    }
    result_.patterns = result_.added.size();
    if (makes_steps) {
      count_uses();
      for (std::uint32_t number = 0; number < rules_.size(); ++number) factor_rule(number);
    }
    count_readers();
    for (std::uint32_t number = 0; number < rules_.size(); ++number) {
      if (rules_[number].original != nullptr && !removed_[number]) merge_ends(number);
    }
    for (const std::uint32_t level : result_.levels) result_.own_level = std::max(result_.own_level, level + 1);
    for (std::uint32_t number = 0; number < rules_.size(); ++number) {
      if (removed_[number]) continue;
      result_.rules.push_back({std::move(rules_[number]), result_.own_level});
    }
    return std::move(result_);
  }

 private:
  /// Returns whether steps of the rule may become relations. Conditions that bind variables or may end the program stay
  /// in the original rule.
  [[nodiscard]] static bool can_be_factored(const normalized_rule& rule) {
    if (rule.atoms.size() < calibration::factored_atoms || !rule.plans.empty()) return false;
    variable_set bound;
    for (const body_atom& atom : rule.atoms) bound.merge(variables_of(atom));
    return std::all_of(rule.conditions.begin(), rule.conditions.end(), [&bound](const condition& test) {
      return is_subset(variables_of(test), bound) && !may_trap(test.left) && !may_trap(test.right);
    });
  }

  void factor_rule(std::uint32_t number) {
    if (!can_be_factored(rules_[number])) return;
    const auto worth = [this](const step_candidate& step) { return worth_of(step); };
    step_candidates steps(rules_[number], recursive_, worth);
    bool is_factored = false;
    while (steps.atom_count() >= calibration::factored_atoms && steps.best() != nullptr) {
      ends_.remove(number);
      factor_out(*choose_step(steps), steps);
      is_factored = true;
    }
    if (!is_factored) return;
    auto original = original_of(rules_[number]);
    rules_[number] = std::move(steps).take_rule();
    rules_[number].original = std::move(original);
  }

  [[nodiscard]] std::size_t worth_of(const step_candidate& step) const {
    std::size_t worth = 1;
    if (step.key.empty()) return worth;
    if (made_.contains(step.key)) worth += rules_.size() * 4;
    const auto uses = uses_.find(step.key);
    if (uses != uses_.end()) worth += 2 * (uses->second - 1);
    return worth;
  }

  /// Chooses a step: preferably an existing relation, then the step that most rules share, then a step after which
  /// another rule can be merged, then the first step in source order.
  [[nodiscard]] const step_candidate* choose_step(const step_candidates& steps) {
    if (steps.atom_count() > calibration::merged_atoms) return steps.best();
    const step_candidate* best = nullptr;
    std::size_t best_worth = 0;
    steps.for_each([&](const step_candidate& found) {
      const std::size_t worth = worth_of(found) + (allows_merging(steps, found) ? 1 : 0);
      if (worth <= best_worth) return;
      best_worth = worth;
      best = &found;
    });
    return best;
  }

  /// Counts the rules in which each step occurs.
  void count_uses() {
    for (const normalized_rule& rule : rules_) {
      if (!can_be_factored(rule)) continue;
      std::set<std::vector<std::uint64_t>> keys;
      step_candidates(rule, recursive_, [](const step_candidate&) {
        return 1;
      }).for_each([&](const step_candidate& found) { keys.insert(found.key); });
      for (const std::vector<std::uint64_t>& key : keys) ++uses_[key];
    }
  }

  [[nodiscard]] std::string text_of(const normalized_rule& rule) const {
    return plan::text_of(rule, source_, name_of_);
  }

  [[nodiscard]] std::uint32_t level_of(const normalized_rule& rule) const {
    std::uint32_t level = 0;
    for (const body_atom& atom : rule.atoms) {
      const auto read = levels_.find(atom.relation);
      if (read != levels_.end()) level = std::max(level, read->second + 1);
    }
    return level;
  }

  void add_relation(relation_id relation, std::uint32_t level) {
    result_.added.push_back(relation);
    result_.levels.push_back(level);
    levels_.emplace(relation, level);
  }

  void add_supplementary_rule(normalized_rule rule, std::uint32_t level) {
    rule.plans.clear();
    drop_unused_variables(rule);
    rule.text = text_of(rule);
    result_.rules.push_back({std::move(rule), level});
  }

  void factor_out(const step_candidate& chosen, step_candidates& steps) {
    const normalized_rule& rule = steps.rule();
    const step_candidate step = chosen;
    const auto known = step.key.empty() ? made_.end() : made_.find(step.key);
    const bool is_known = known != made_.end();
    relation_id relation;
    if (is_known) {
      relation = known->second;
      const bool is_long = steps.atom_count() > calibration::merged_atoms;
      result_.remarks.push_back(fmt::format("{} also has an intermediate join of: {}",
                                            shortened(is_long ? rule.text : text_of(steps.present_rule())),
                                            name_of_(relation)));
    } else {
      normalized_rule made;
      made.words = rule.words;
      made.id = rule.id;
      made.location = rule.location;
      made.variables = rule.variables;
      made.atoms = {rule.atoms[step.first], rule.atoms[step.second]};
      for (const std::uint32_t condition : step.conditions) made.conditions.push_back(rule.conditions[condition]);
      for (const std::uint32_t negation : step.negations) made.negations.push_back(rule.negations[negation]);
      std::vector<std::string> names;
      std::vector<value_kind> kinds;
      for (const std::uint32_t column : step.columns) {
        made.head_arguments.push_back(variable_expression(rule, column));
        names.push_back(rule.variables[column].name);
        kinds.push_back(rule.variables[column].kind);
      }
      relation = make_relation_(rule.head, std::move(names), std::move(kinds));
      made.head = relation;
      const std::uint32_t level = level_of(made);
      add_relation(relation, level);
      recursive_.insert(relation);
      if (!step.key.empty()) made_.emplace(step.key, relation);
      std::vector<std::string> lost;
      for (const std::uint32_t variable : step.lost) lost.push_back(rule.variables[variable].name);
      result_.remarks.push_back(fmt::format("{}: an intermediate join of {} without {}; the rest runs once per ({})",
                                            name_of_(relation), shortened(rule.text), fmt::join(lost, ","),
                                            fmt::join(names_of(rule, step.columns), ",")));
      add_supplementary_rule(std::move(made), level);
    }

    body_atom reading;
    reading.relation = relation;
    for (const std::uint32_t column : step.columns) reading.arguments.push_back(variable_term(rule, column));
    steps.replace(step, std::move(reading));
    if (!is_known && !step.key.empty()) steps.weigh_again(step.key);
  }

  /// Shortens a text for remarks: a long rule has many steps, each with a remark.
  [[nodiscard]] static std::string shortened(std::string text) {
    constexpr std::size_t most = 400;
    if (text.size() <= most) return text;
    std::size_t end = most;
    while (end != 0 && (static_cast<unsigned char>(text[end]) & 0xC0U) == 0x80U) --end;  // within a character
    return text.substr(0, end) + " ...";
  }

  [[nodiscard]] static std::vector<std::string> names_of(const normalized_rule& rule,
                                                         const std::vector<std::uint32_t>& variables) {
    std::vector<std::string> names;
    for (const std::uint32_t variable : variables) names.push_back(rule.variables[variable].name);
    return names;
  }

  // ---- merging ------------------------------------------------------------------------------------------------------

  [[nodiscard]] bool allows_merging(const step_candidates& steps, const step_candidate& step) {
    const normalized_rule& rule = steps.rule();
    if (steps.condition_count() != step.conditions.size() || steps.negation_count() != step.negations.size())
      return false;
    rule_end end;
    end.head = &rule.head_arguments;
    end.columns = step.columns;
    for (std::uint32_t atom = 0; atom < rule.atoms.size(); ++atom) {
      if (steps.has_atom(atom) && atom != step.first && atom != step.second) end.atoms.push_back(&rule.atoms[atom]);
    }
    return ends_.has_match(end, rule.head);
  }

  void merge_ends(std::uint32_t number) {
    const normalized_rule& rule = rules_[number];
    if (!rule.conditions.empty() || !rule.negations.empty()) return;
    if (rule.atoms.size() > calibration::merged_atoms) return;
    const auto reading = std::find_if(rule.atoms.begin(), rule.atoms.end(),
                                      [this](const body_atom& atom) { return readers_.contains(atom.relation); });
    // A relation with several readers must not receive more tuples, which would be correct for the matched rule only.
    if (reading == rule.atoms.end() || readers_.at(reading->relation) != 1) return;
    rule_end end;
    end.head = &rule.head_arguments;
    for (const term& argument : reading->arguments) end.columns.push_back(argument.value);
    for (const body_atom& atom : rule.atoms) {
      if (&atom != &*reading) end.atoms.push_back(&atom);
    }
    for (const std::uint32_t other : ends_.matches(end, rule.head)) {
      const std::optional<matched_beginning> found = ends_.find_beginning(end, other);
      const normalized_rule& merged = rules_[other];
      normalized_rule added;
      added.words = merged.words;
      added.id = merged.id;
      added.head = reading->relation;
      added.location = merged.location;
      added.variables = merged.variables;
      for (const std::uint32_t atom : found->atoms) added.atoms.push_back(merged.atoms[atom]);
      for (const std::uint32_t column : found->columns) {
        added.head_arguments.push_back(variable_expression(merged, column));
      }
      const std::uint32_t level = levels_.at(reading->relation);
      result_.remarks.push_back(fmt::format("{}: also the first joins of {}, which ends as {}",
                                            name_of_(reading->relation), merged.text, rule.text));
      added.original = original_of(merged);
      add_supplementary_rule(std::move(added), level);
      removed_[other] = true;
      ends_.remove(other);
    }
  }

  /// Counts the rules that read each step, but not the patterns, which other rules may read. Merging changes no count:
  /// the merged rules have no step.
  void count_readers() {
    for (std::size_t added = result_.patterns; added < result_.added.size(); ++added) readers_[result_.added[added]];
    const auto count = [this](const normalized_rule& rule) {
      for (const body_atom& atom : rule.atoms) {
        const auto step = readers_.find(atom.relation);
        if (step != readers_.end()) ++step->second;
      }
    };
    std::for_each(rules_.begin(), rules_.end(), count);
    for (const factored_rule& supplementary : result_.rules) count(supplementary.rule);
  }

  std::vector<normalized_rule> rules_;
  std::vector<bool> removed_;  // whether the rule was merged into another rule
  std::set<relation_id> recursive_;
  const sema::program& source_;
  const relation_maker& make_relation_;
  const relation_namer& name_of_;
  std::map<std::vector<std::uint64_t>, std::size_t> uses_;
  std::map<std::vector<std::uint64_t>, relation_id> made_;
  std::map<relation_id, std::uint32_t> levels_;  // levels of added relations
  std::map<relation_id, std::size_t> readers_;   // of the steps
  rule_ends ends_;
  factored_stratum result_;
};

}  // namespace

factored_stratum factor(std::vector<normalized_rule> rules, const std::vector<relation_id>& members,
                        const sema::program& source, const relation_maker& make_relation, const relation_namer& name_of,
                        std::vector<normalized_rule> patterns, bool makes_steps) {
  return stratum_factoring(std::move(rules), members, source, make_relation, name_of)
      .run(std::move(patterns), makes_steps);
}

}  // namespace gpulog::plan
