#include "plan/passes/relations/rule_ends.hpp"

#include <algorithm>

#include "plan/rules/variable_set.hpp"

namespace gpulog::plan {
namespace {

using renaming = std::map<std::uint32_t, term>;

bool rename_term(const term& from, const term& to, renaming& names) {
  if (from.what != to.what) return false;
  if (!from.is_variable()) return from == to;
  const auto [known, is_new] = names.emplace(from.value, to);
  return is_new || known->second.value == to.value;
}

bool rename_atom(const body_atom& from, const body_atom& to, renaming& names) {
  if (from.relation != to.relation) return false;
  for (std::size_t column = 0; column < from.arguments.size(); ++column) {
    if (!rename_term(from.arguments[column], to.arguments[column], names)) return false;
  }
  return true;
}

/// Returns the argument of a head as a term, if it is one.
std::optional<term> as_term(const sema::expression& argument) {
  if (argument.is_variable()) return term{term::form::variable, argument.variable, argument.kind};
  if (argument.is_constant()) return term{term::form::constant, 0, argument.kind, argument.constant};
  return std::nullopt;
}

bool rename_head(const std::vector<sema::expression>& from, const std::vector<sema::expression>& to, renaming& names) {
  for (std::size_t column = 0; column < from.size(); ++column) {
    const std::optional<term> left = as_term(from[column]);
    const std::optional<term> right = as_term(to[column]);
    if (!left || !right || !rename_term(*left, *right, names)) return false;
  }
  return true;
}

/// Checks that the second rule is exactly the remaining start, as a rule of the supplementary relation, joined with
/// the end.
std::optional<matched_beginning> check_beginning(const rule_end& end, const normalized_rule& other,
                                                 const std::set<relation_id>& recursive, const std::vector<bool>& taken,
                                                 const renaming& names) {
  matched_beginning result;
  variable_set beginning;
  bool reads_stratum = false;
  for (std::uint32_t atom = 0; atom < other.atoms.size(); ++atom) {
    if (taken[atom]) continue;
    result.atoms.push_back(atom);
    beginning.merge(variables_of(other.atoms[atom]));
    reads_stratum = reads_stratum || recursive.contains(other.atoms[atom].relation);
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

/// Assigns the atoms of the end to atoms of the second rule, one by one.
std::optional<matched_beginning> match_end(const rule_end& end, const normalized_rule& other,
                                           const std::set<relation_id>& recursive, std::size_t next,
                                           std::vector<bool>& taken, const renaming& names) {
  if (next == end.atoms.size()) return check_beginning(end, other, recursive, taken, names);
  for (std::uint32_t atom = 0; atom < other.atoms.size(); ++atom) {
    if (taken[atom]) continue;
    renaming extended = names;
    if (!rename_atom(*end.atoms[next], other.atoms[atom], extended)) continue;
    taken[atom] = true;
    auto found = match_end(end, other, recursive, next + 1, taken, extended);
    taken[atom] = false;
    if (found) return found;
  }
  return std::nullopt;
}

/// Returns what an atom of the end and its match in a rule with this head have in common: all but the variables.
std::vector<std::uint64_t> common_part(const body_atom& atom, relation_id head) {
  std::vector<std::uint64_t> part{head.value, atom.relation.value};
  for (const term& argument : atom.arguments) {
    part.push_back(static_cast<std::uint64_t>(argument.what));
    if (argument.is_constant()) part.push_back(argument.literal);
  }
  return part;
}

/// Returns the end with variables numbered by first occurrence, which decides the rules that match.
std::vector<std::uint64_t> key_of(const rule_end& end, relation_id head) {
  std::vector<std::uint64_t> key{head.value, end.atoms.size()};
  std::map<std::uint32_t, std::uint64_t> numbers;
  const auto number_of = [&numbers](std::uint32_t variable) {
    return numbers.emplace(variable, numbers.size()).first->second;
  };
  const auto add_term = [&](const term& argument) {
    key.push_back(static_cast<std::uint64_t>(argument.what));
    key.push_back(static_cast<std::uint64_t>(argument.kind));
    key.push_back(argument.is_variable() ? number_of(argument.value) : argument.literal);
  };
  for (const sema::expression& argument : *end.head) add_term(as_term(argument).value_or(term{}));
  for (const body_atom* atom : end.atoms) {
    key.push_back(atom->relation.value);
    for (const term& argument : atom->arguments) add_term(argument);
  }
  const auto columns = static_cast<std::ptrdiff_t>(key.size());
  for (const std::uint32_t column : end.columns) key.push_back(number_of(column));
  std::sort(key.begin() + columns, key.end());
  return key;
}

}  // namespace

rule_ends::rule_ends(const std::vector<normalized_rule>& rules, const std::set<relation_id>& recursive)
    : rules_(&rules), recursive_(&recursive) {
  for (std::uint32_t number = 0; number < rules.size(); ++number) {
    const normalized_rule& rule = rules[number];
    is_plain_.push_back(rule.original == nullptr && rule.conditions.empty() && rule.negations.empty() &&
                        rule.plans.empty());
    if (!is_plain_.back()) continue;
    for (const body_atom& atom : rule.atoms) {
      std::vector<std::uint32_t>& candidates = candidates_[common_part(atom, rule.head)];
      if (candidates.empty() || candidates.back() != number) candidates.push_back(number);
    }
  }
}

bool rule_ends::has_match(const rule_end& end, relation_id head) {
  found_rules& found = known_matches(end, head);
  return !found.numbers.empty() || find_next(end, found);
}

std::vector<std::uint32_t> rule_ends::matches(const rule_end& end, relation_id head) {
  found_rules& found = known_matches(end, head);
  while (find_next(end, found)) {
  }
  return found.numbers;
}

std::optional<matched_beginning> rule_ends::find_beginning(const rule_end& end, std::uint32_t number) const {
  const normalized_rule& other = (*rules_)[number];
  if (other.atoms.size() <= end.atoms.size()) return std::nullopt;
  renaming names;
  if (!rename_head(*end.head, other.head_arguments, names)) return std::nullopt;
  std::vector<bool> taken(other.atoms.size());
  return match_end(end, other, *recursive_, 0, taken, names);
}

rule_ends::found_rules& rule_ends::known_matches(const rule_end& end, relation_id head) {
  const auto [known, is_new] = found_.try_emplace(key_of(end, head));
  found_rules& found = known->second;
  if (is_new) found.candidates = candidates_of(end, head);
  std::erase_if(found.numbers, [this](std::uint32_t number) { return !is_plain_[number]; });
  return found;
}

const std::vector<std::uint32_t>* rule_ends::candidates_of(const rule_end& end, relation_id head) const {
  const std::vector<std::uint32_t>* fewest = nullptr;
  for (const body_atom* atom : end.atoms) {
    const auto found = candidates_.find(common_part(*atom, head));
    if (found == candidates_.end()) return nullptr;
    if (fewest == nullptr || found->second.size() < fewest->size()) fewest = &found->second;
  }
  return fewest;
}

bool rule_ends::find_next(const rule_end& end, found_rules& found) const {
  while (found.candidates != nullptr && found.compared < found.candidates->size()) {
    const std::uint32_t number = (*found.candidates)[found.compared++];
    if (!is_plain_[number] || !find_beginning(end, number)) continue;
    found.numbers.push_back(number);
    return true;
  }
  return false;
}

}  // namespace gpulog::plan
