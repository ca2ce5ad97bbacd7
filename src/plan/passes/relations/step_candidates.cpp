#include "plan/passes/relations/step_candidates.hpp"

#include <algorithm>
#include <initializer_list>
#include <iterator>
#include <limits>

namespace gpulog::plan {
namespace {

/// Returns the terms of the atoms with variables numbered by first occurrence; the smaller key for both orders of the
/// atoms.
std::vector<std::uint64_t> canonical_key(const normalized_rule& rule, std::uint32_t first, std::uint32_t second,
                                         const variable_set& needed, std::vector<std::uint32_t>& columns) {
  const auto key_of = [&](std::initializer_list<std::uint32_t> atoms, std::vector<std::uint32_t>& ordered) {
    std::vector<std::uint64_t> key;
    std::map<std::uint32_t, std::uint64_t> numbers;
    for (const std::uint32_t number : atoms) {
      key.push_back(rule.atoms[number].relation.value);
      for (const term& argument : rule.atoms[number].arguments) {
        key.push_back(static_cast<std::uint64_t>(argument.what));
        if (argument.is_constant()) key.push_back(argument.literal);
        if (!argument.is_variable()) continue;
        const auto [known, is_new] = numbers.emplace(argument.value, numbers.size());
        key.push_back(known->second * 2 + (needed.contains(argument.value) ? 1 : 0));
        if (is_new && needed.contains(argument.value)) ordered.push_back(argument.value);
      }
    }
    return key;
  };
  std::vector<std::uint32_t> forward_columns;
  std::vector<std::uint32_t> backward_columns;
  std::vector<std::uint64_t> forward = key_of({first, second}, forward_columns);
  std::vector<std::uint64_t> backward = key_of({second, first}, backward_columns);
  columns = backward < forward ? backward_columns : forward_columns;
  return std::min(forward, backward);
}

/// Keeps the remaining literals, in order.
template <class Literal>
void keep_left(std::vector<Literal>& literals, const std::vector<bool>& left) {
  std::size_t number = 0;
  std::erase_if(literals, [&](const Literal&) { return !left[number++]; });
}

}  // namespace

step_candidates::step_candidates(normalized_rule rule, const std::set<relation_id>& recursive, worth_function worth)
    : rule_(std::move(rule)),
      recursive_(&recursive),
      worth_(std::move(worth)),
      atom_count_(rule_.atoms.size()),
      condition_count_(rule_.conditions.size()),
      negation_count_(rule_.negations.size()),
      atoms_left_(rule_.atoms.size(), true),
      conditions_left_(rule_.conditions.size(), true),
      negations_left_(rule_.negations.size(), true),
      of_atoms_(rule_.atoms.size()),
      atoms_with_(rule_.variables.size()),
      conditions_with_(rule_.variables.size()),
      negations_with_(rule_.variables.size()),
      in_head_(rule_.variables.size()) {
  for (std::uint32_t atom = 0; atom < rule_.atoms.size(); ++atom) add_atom(atom);
  for (const condition& test : rule_.conditions) {
    const auto number = static_cast<std::uint32_t>(of_conditions_.size());
    of_conditions_.push_back(variables_of(test));
    for (const std::uint32_t variable : of_conditions_.back()) conditions_with_[variable].insert(number);
    if (of_conditions_.back().empty()) conditions_without_variables_.push_back(number);
  }
  for (const body_atom& negated : rule_.negations) {
    const auto number = static_cast<std::uint32_t>(of_negations_.size());
    of_negations_.push_back(variables_of(negated));
    for (const std::uint32_t variable : of_negations_.back()) negations_with_[variable].insert(number);
  }
  std::vector<std::uint32_t> variables;
  for (const sema::expression& argument : rule_.head_arguments) append_variables(argument, variables);
  for (const std::uint32_t variable : variables) in_head_[variable] = true;
  variable_set all;
  for (std::uint32_t variable = 0; variable < rule_.variables.size(); ++variable) all.insert(all.end(), variable);
  find_candidates(all);
}

const step_candidate* step_candidates::best() const {
  return order_.empty() ? nullptr : &candidates_.at(std::get<atom_pair>(*order_.begin()));
}

void step_candidates::add_atom(std::uint32_t atom) {
  of_atoms_[atom] = variables_of(rule_.atoms[atom]);
  for (const std::uint32_t variable : of_atoms_[atom]) atoms_with_[variable].insert(atom);
}

void step_candidates::remove_atom(std::uint32_t atom) {
  for (const std::uint32_t variable : of_atoms_[atom]) {
    const std::set<std::uint32_t>& atoms = atoms_with_[variable];
    if (atoms.size() == 2) remove_candidate({*atoms.begin(), *atoms.rbegin()});
  }
  for (const std::uint32_t variable : of_atoms_[atom]) atoms_with_[variable].erase(atom);
}

/// Finds candidates through variables that occur in two atoms only.
void step_candidates::find_candidates(const variable_set& variables) {
  for (const std::uint32_t variable : variables) {
    const std::set<std::uint32_t>& atoms = atoms_with_[variable];
    if (atoms.size() == 2 && !in_head_[variable]) add_candidate({*atoms.begin(), *atoms.rbegin()});
  }
}

void step_candidates::add_candidate(atom_pair atoms) {
  if (candidates_.contains(atoms)) return;
  step_candidate candidate;
  if (!make_candidate(atoms, candidate)) return;
  const std::size_t worth = worth_(candidate);
  if (!candidate.key.empty()) by_key_[candidate.key].insert(atoms);
  candidates_.emplace(atoms, std::move(candidate));
  worths_[atoms] = worth;
  order_.emplace(std::numeric_limits<std::size_t>::max() - worth, atoms);
}

void step_candidates::remove_candidate(atom_pair atoms) {
  const auto found = candidates_.find(atoms);
  if (found == candidates_.end()) return;
  order_.erase({std::numeric_limits<std::size_t>::max() - worths_.at(atoms), atoms});
  worths_.erase(atoms);
  if (!found->second.key.empty()) by_key_[found->second.key].erase(atoms);
  candidates_.erase(found);
}

void step_candidates::weigh_again(const std::vector<std::uint64_t>& key) {
  const auto found = by_key_.find(key);
  if (found == by_key_.end()) return;
  for (const atom_pair& atoms : found->second) {
    std::size_t& worth = worths_.at(atoms);
    order_.erase({std::numeric_limits<std::size_t>::max() - worth, atoms});
    worth = worth_(candidates_.at(atoms));
    order_.emplace(std::numeric_limits<std::size_t>::max() - worth, atoms);
  }
}

void step_candidates::use_tests(const variable_set& own, step_candidate& result, variable_set& needed) const {
  const auto need = [&](const variable_set& others) {
    std::set_intersection(own.begin(), own.end(), others.begin(), others.end(), std::inserter(needed, needed.end()));
  };
  std::set<std::uint32_t> conditions(conditions_without_variables_.begin(), conditions_without_variables_.end());
  std::set<std::uint32_t> negations;
  for (const std::uint32_t variable : own) {
    conditions.insert(conditions_with_[variable].begin(), conditions_with_[variable].end());
    negations.insert(negations_with_[variable].begin(), negations_with_[variable].end());
  }
  for (const std::uint32_t number : conditions) {
    if (is_subset(of_conditions_[number], own)) {
      result.conditions.push_back(number);
    } else {
      need(of_conditions_[number]);
    }
  }
  for (const std::uint32_t number : negations) {
    if (is_subset(of_negations_[number], own)) {
      result.negations.push_back(number);
    } else {
      need(of_negations_[number]);
    }
  }
}

bool step_candidates::make_candidate(atom_pair atoms, step_candidate& result) const {
  const auto is_recursive = [this](std::uint32_t atom) { return recursive_->contains(rule_.atoms[atom].relation); };
  if (!is_recursive(atoms.first) && !is_recursive(atoms.second)) return false;
  const variable_set& of_first = of_atoms_[atoms.first];
  const variable_set& of_second = of_atoms_[atoms.second];
  variable_set own = of_first;
  own.insert(of_second.begin(), of_second.end());
  result.first = atoms.first;
  result.second = atoms.second;
  variable_set needed;
  for (const std::uint32_t variable : own) {
    const std::size_t own_atoms = of_first.count(variable) + of_second.count(variable);
    if (in_head_[variable] || atoms_with_[variable].size() > own_atoms) needed.insert(variable);
  }
  use_tests(own, result, needed);
  result.key = canonical_key(rule_, atoms.first, atoms.second, needed, result.columns);
  if (!result.conditions.empty() || !result.negations.empty()) result.key.clear();
  std::set_difference(own.begin(), own.end(), needed.begin(), needed.end(), std::back_inserter(result.lost));

  // A composition of two relations: each atom provides a column that the other one lacks, their join variable is lost,
  // and the space of pairs is no larger than the space of the rule's results.
  const auto gives_column = [&](const variable_set& giver, const variable_set& other) {
    return std::any_of(result.columns.begin(), result.columns.end(),
                       [&](std::uint32_t column) { return giver.contains(column) && !other.contains(column); });
  };
  const bool loses_join = std::any_of(result.lost.begin(), result.lost.end(), [&](std::uint32_t variable) {
    return of_first.contains(variable) && of_second.contains(variable);
  });
  const std::size_t widest = std::max<std::size_t>(rule_.head_arguments.size(), 2);
  if (!gives_column(of_first, of_second) || !gives_column(of_second, of_first)) return false;
  return loses_join && result.columns.size() <= widest;
}

/// Other steps may have had the same tests.
void step_candidates::remove_tests(const step_candidate& step) {
  if (step.conditions.empty() && step.negations.empty()) return;
  variable_set tested;
  const auto remove = [&tested](std::uint32_t number, const std::vector<variable_set>& variables,
                                std::vector<std::set<std::uint32_t>>& with, std::vector<bool>& left,
                                std::size_t& count) {
    left[number] = false;
    --count;
    for (const std::uint32_t variable : variables[number]) {
      with[variable].erase(number);
      tested.insert(variable);
    }
  };
  for (const std::uint32_t number : step.conditions)
    remove(number, of_conditions_, conditions_with_, conditions_left_, condition_count_);
  for (const std::uint32_t number : step.negations)
    remove(number, of_negations_, negations_with_, negations_left_, negation_count_);
  std::erase_if(conditions_without_variables_, [this](std::uint32_t number) { return !conditions_left_[number]; });
  std::vector<atom_pair> changed;
  for (const auto& [atoms, candidate] : candidates_) {
    const auto is_gone = [](std::uint32_t number, const std::vector<bool>& left) { return !left[number]; };
    const bool changes = std::any_of(candidate.conditions.begin(), candidate.conditions.end(),
                                     [&](std::uint32_t number) { return is_gone(number, conditions_left_); }) ||
                         std::any_of(candidate.negations.begin(), candidate.negations.end(),
                                     [&](std::uint32_t number) { return is_gone(number, negations_left_); });
    if (changes) changed.push_back(atoms);
  }
  for (const atom_pair& atoms : changed) {
    remove_candidate(atoms);
    add_candidate(atoms);
  }
}

void step_candidates::replace(const step_candidate& step, body_atom reading) {
  const step_candidate taken = step;  // copied because it is one of the removed candidates
  remove_atom(taken.first);
  remove_atom(taken.second);
  remove_candidate({taken.first, taken.second});
  atoms_left_[taken.second] = false;
  --atom_count_;
  rule_.atoms[taken.first] = std::move(reading);
  add_atom(taken.first);
  remove_tests(taken);
  find_candidates(of_atoms_[taken.first]);
}

normalized_rule step_candidates::take() {
  keep_left(rule_.atoms, atoms_left_);
  keep_left(rule_.conditions, conditions_left_);
  keep_left(rule_.negations, negations_left_);
  return std::move(rule_);
}

normalized_rule step_candidates::take_rule() && { return take(); }

}  // namespace gpulog::plan
