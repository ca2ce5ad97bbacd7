#include "plan/passes/relations/supplementary.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "plan/cost/calibration.hpp"
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
        name_of_(name_of) {}

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

  [[nodiscard]] bool is_recursive(const body_atom& atom) const { return recursive_.contains(atom.relation); }

  void factor_rule(std::uint32_t number) {
    if (!can_be_factored(rules_[number])) return;
    const auto worth = [this](const step_candidate& step) { return worth_of(step); };
    step_candidates steps(rules_[number], recursive_, worth);
    bool is_factored = false;
    while (steps.atom_count() >= calibration::factored_atoms) {
      const step_candidate* const chosen = choose_step(number, steps);
      if (chosen == nullptr) break;
      factor_out(*chosen, steps);
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
  [[nodiscard]] const step_candidate* choose_step(std::uint32_t number, const step_candidates& steps) const {
    const std::vector<std::uint32_t> others = rules_to_merge(number, steps);
    if (others.empty()) return steps.best();
    const step_candidate* best = nullptr;
    std::size_t best_worth = 0;
    steps.for_each([&](const step_candidate& found) {
      const std::size_t worth = worth_of(found) + (allows_merging(steps, found, others) ? 1 : 0);
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
      result_.remarks.push_back(fmt::format(
          "{} has a step of: {}", shortened(is_long ? rule.text : text_of(steps.present_rule())), name_of_(relation)));
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
      result_.remarks.push_back(fmt::format("{}: a step of {} that loses {}; what follows is done once for each ({})",
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

  /// The part of a rule relevant for merging: the head, the atoms of the end, and the variables between start and end.
  struct rule_end {
    const std::vector<sema::expression>* head = nullptr;
    std::vector<const body_atom*> atoms;
    std::vector<std::uint32_t> columns;  ///< columns of the supplementary atom
  };

  /// The match of a rule with the same end: the remaining atoms, and the variables for the columns.
  struct matched_beginning {
    std::vector<std::uint32_t> atoms;
    std::vector<std::uint32_t> columns;
  };

  using renaming = std::map<std::uint32_t, term>;

  static bool rename_term(const term& from, const term& to, renaming& names) {
    if (from.what != to.what) return false;
    if (!from.is_variable()) return from == to;
    const auto [known, is_new] = names.emplace(from.value, to);
    return is_new || known->second.value == to.value;
  }

  static bool rename_atom(const body_atom& from, const body_atom& to, renaming& names) {
    if (from.relation != to.relation) return false;
    for (std::size_t column = 0; column < from.arguments.size(); ++column) {
      if (!rename_term(from.arguments[column], to.arguments[column], names)) return false;
    }
    return true;
  }

  static bool rename_head(const std::vector<sema::expression>& from, const std::vector<sema::expression>& to,
                          renaming& names) {
    const auto as_term = [](const sema::expression& argument) -> std::optional<term> {
      if (argument.is_variable()) return term{term::form::variable, argument.variable, argument.kind};
      if (argument.is_constant()) return term{term::form::constant, 0, argument.kind, argument.constant};
      return std::nullopt;
    };
    for (std::size_t column = 0; column < from.size(); ++column) {
      const std::optional<term> left = as_term(from[column]);
      const std::optional<term> right = as_term(to[column]);
      if (!left || !right || !rename_term(*left, *right, names)) return false;
    }
    return true;
  }

  /// Assigns the atoms of the end to atoms of the second rule, one by one.
  [[nodiscard]] std::optional<matched_beginning> match_end(const rule_end& end, const normalized_rule& other,
                                                           std::size_t next, std::vector<bool>& taken,
                                                           const renaming& names) const {
    if (next == end.atoms.size()) return check_beginning(end, other, taken, names);
    for (std::uint32_t atom = 0; atom < other.atoms.size(); ++atom) {
      if (taken[atom]) continue;
      renaming extended = names;
      if (!rename_atom(*end.atoms[next], other.atoms[atom], extended)) continue;
      taken[atom] = true;
      auto found = match_end(end, other, next + 1, taken, extended);
      taken[atom] = false;
      if (found) return found;
    }
    return std::nullopt;
  }

  /// Checks that the second rule is exactly the remaining start, as a rule of the supplementary relation, joined with
  /// the end.
  [[nodiscard]] std::optional<matched_beginning> check_beginning(const rule_end& end, const normalized_rule& other,
                                                                 const std::vector<bool>& taken,
                                                                 const renaming& names) const {
    matched_beginning result;
    variable_set beginning;
    bool reads_stratum = false;
    for (std::uint32_t atom = 0; atom < other.atoms.size(); ++atom) {
      if (taken[atom]) continue;
      result.atoms.push_back(atom);
      beginning.merge(variables_of(other.atoms[atom]));
      reads_stratum = reads_stratum || is_recursive(other.atoms[atom]);
    }
    // Without an atom of the stratum, the rule would not belong to the loop.
    if (!reads_stratum) return std::nullopt;
    variable_set between;
    for (const std::uint32_t column : end.columns) {
      const auto image = names.find(column);
      if (image == names.end() || !beginning.contains(image->second.value)) return std::nullopt;
      result.columns.push_back(image->second.value);
      between.insert(image->second.value);
    }
    // Variables that occur only in the end must have distinct images that the start does not contain. Otherwise the
    // second rule joins on more than the columns.
    variable_set images;
    for (const auto& [variable, image] : names) {
      if (std::find(end.columns.begin(), end.columns.end(), variable) != end.columns.end()) continue;
      if (between.contains(image.value) || beginning.contains(image.value)) return std::nullopt;
      if (!images.insert(image.value).second) return std::nullopt;
    }
    return result;
  }

  /// Returns whether the rule is long enough for such an end and has a suitable form.
  [[nodiscard]] bool may_have_end(std::uint32_t number, relation_id head, std::size_t atoms) const {
    const normalized_rule& rule = rules_[number];
    const bool plain = rule.conditions.empty() && rule.negations.empty() && rule.plans.empty();
    return !removed_[number] && rule.original == nullptr && plain && rule.head == head && rule.atoms.size() > atoms;
  }

  [[nodiscard]] std::optional<matched_beginning> find_beginning(const rule_end& end, relation_id head,
                                                                std::uint32_t number) const {
    const normalized_rule& other = rules_[number];
    if (!may_have_end(number, head, end.atoms.size())) return std::nullopt;
    renaming names;
    if (!rename_head(*end.head, other.head_arguments, names)) return std::nullopt;
    std::vector<bool> taken(other.atoms.size());
    return match_end(end, other, 0, taken, names);
  }

  /// Returns rules that may end like the remainder of this rule after a step. Long bodies are excluded because of the
  /// number of possible matches.
  [[nodiscard]] std::vector<std::uint32_t> rules_to_merge(std::uint32_t number, const step_candidates& steps) const {
    std::vector<std::uint32_t> others;
    if (steps.atom_count() > calibration::merged_atoms) return others;
    for (std::uint32_t other = 0; other < rules_.size(); ++other) {
      if (other != number && may_have_end(other, rules_[number].head, steps.atom_count() - 2)) others.push_back(other);
    }
    return others;
  }

  [[nodiscard]] bool allows_merging(const step_candidates& steps, const step_candidate& step,
                                    const std::vector<std::uint32_t>& others) const {
    const normalized_rule& rule = steps.rule();
    if (steps.condition_count() != step.conditions.size() || steps.negation_count() != step.negations.size())
      return false;
    rule_end end;
    end.head = &rule.head_arguments;
    end.columns = step.columns;
    for (std::uint32_t atom = 0; atom < rule.atoms.size(); ++atom) {
      if (steps.has_atom(atom) && atom != step.first && atom != step.second) end.atoms.push_back(&rule.atoms[atom]);
    }
    return std::any_of(others.begin(), others.end(),
                       [&](std::uint32_t other) { return find_beginning(end, rule.head, other).has_value(); });
  }

  void merge_ends(std::uint32_t number) {
    const normalized_rule& rule = rules_[number];
    if (!rule.conditions.empty() || !rule.negations.empty()) return;
    if (rule.atoms.size() > calibration::merged_atoms) return;
    // Other rules may read the relation of a pattern.
    const auto steps = result_.added.begin() + static_cast<std::ptrdiff_t>(result_.patterns);
    const auto reading = std::find_if(rule.atoms.begin(), rule.atoms.end(), [&](const body_atom& atom) {
      return std::find(steps, result_.added.end(), atom.relation) != result_.added.end();
    });
    if (reading == rule.atoms.end() || readers_of(reading->relation) != 1) return;
    rule_end end;
    end.head = &rule.head_arguments;
    for (const term& argument : reading->arguments) end.columns.push_back(argument.value);
    for (const body_atom& atom : rule.atoms) {
      if (&atom != &*reading) end.atoms.push_back(&atom);
    }
    for (std::uint32_t other = 0; other < rules_.size(); ++other) {
      const std::optional<matched_beginning> found = find_beginning(end, rule.head, other);
      if (!found) continue;
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
      result_.remarks.push_back(fmt::format("{}: also the beginning of {}, which ends as {}",
                                            name_of_(reading->relation), merged.text, rule.text));
      added.original = original_of(merged);
      add_supplementary_rule(std::move(added), level);
      removed_[other] = true;
    }
  }

  /// Returns the number of rules that read a supplementary relation. A relation with several readers must not receive
  /// more tuples, which would be correct for the matched rule only.
  [[nodiscard]] std::size_t readers_of(relation_id relation) const {
    std::size_t readers = 0;
    const auto count = [&](const normalized_rule& rule) {
      for (const body_atom& atom : rule.atoms) readers += atom.relation == relation ? 1 : 0;
    };
    for (std::uint32_t number = 0; number < rules_.size(); ++number) {
      if (!removed_[number]) count(rules_[number]);
    }
    for (const factored_rule& supplementary : result_.rules) count(supplementary.rule);
    return readers;
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
