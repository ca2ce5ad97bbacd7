#pragma once

#include <cstddef>
#include <cstdint>
#include <set>
#include <utility>
#include <vector>

#include "plan/rules/normalized_rule.hpp"
#include "plan/rules/variable_set.hpp"

namespace gpulog::plan {

/// Which variables the parts of a rule have.
struct rule_variables {
  explicit rule_variables(const normalized_rule& rule)
      : atoms_with(rule.variables.size()), in_head(rule.variables.size()) {
    for (std::uint32_t number = 0; number < rule.atoms.size(); ++number) {
      of_atoms.push_back(variables_of(rule.atoms[number]));
      for (const std::uint32_t variable : of_atoms.back()) atoms_with[variable].push_back(number);
    }
    std::vector<std::uint32_t> variables;
    for (const sema::expression& argument : rule.head_arguments) append_variables(argument, variables);
    for (const std::uint32_t variable : variables) in_head[variable] = true;
    for (const condition& test : rule.conditions) of_conditions.push_back(variables_of(test));
    for (const body_atom& negated : rule.negations) of_negations.push_back(variables_of(negated));
  }

  /// Pairs of atoms that have a variable in common, as written.
  [[nodiscard]] std::set<std::pair<std::uint32_t, std::uint32_t>> joined_atoms() const {
    std::set<std::pair<std::uint32_t, std::uint32_t>> pairs;
    for (const std::vector<std::uint32_t>& atoms : atoms_with) {
      for (std::size_t second = 1; second < atoms.size(); ++second) {
        for (std::size_t first = 0; first < second; ++first) pairs.emplace(atoms[first], atoms[second]);
      }
    }
    return pairs;
  }

  std::vector<variable_set> of_atoms, of_conditions, of_negations;
  std::vector<std::vector<std::uint32_t>> atoms_with;  ///< by variable, ascending
  std::vector<bool> in_head;                           ///< by variable
};

}  // namespace gpulog::plan
