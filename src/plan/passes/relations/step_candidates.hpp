#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

#include "plan/rules/normalized_rule.hpp"
#include "plan/rules/variable_set.hpp"

namespace gpulog::plan {

/// A pair of joined atoms in a rule, with the literals that can be tested on the pair alone; may become a relation.
struct step_candidate {
  std::uint32_t first = 0, second = 0;  ///< atoms
  std::vector<std::uint32_t> conditions, negations;
  std::vector<std::uint32_t> columns;  ///< variables that the remaining rule needs, in the order of the key
  std::vector<std::uint32_t> lost;     ///< variables that the remaining rule does not need
  /// Equal for steps that are equal up to the names of variables; empty: has tests and is not shared.
  std::vector<std::uint64_t> key;
};

/// The steps of a rule that may become relations, one after another. Literals keep their original numbers; take_rule()
/// returns the remaining rule.
///
/// A step is a composition: the remaining rule does not need the join variable of the two atoms, so no third atom has
/// the variable. A rule therefore has at most one candidate per variable. When a step becomes a relation, the variables
/// that the step shares with further atoms become columns of the relation: the steps of the further atoms stay
/// unchanged, except for tests moved to the relation.
class step_candidates {
 public:
  /// Returns the value of a candidate, starting at 1.
  using worth_function = std::function<std::size_t(const step_candidate&)>;

  /// @param recursive relations of the stratum, one of which each step reads; must outlive the object
  step_candidates(normalized_rule rule, const std::set<relation_id>& recursive, worth_function worth);

  [[nodiscard]] const normalized_rule& rule() const { return rule_; }
  [[nodiscard]] std::size_t atom_count() const { return atom_count_; }
  [[nodiscard]] std::size_t condition_count() const { return condition_count_; }
  [[nodiscard]] std::size_t negation_count() const { return negation_count_; }
  [[nodiscard]] bool has_atom(std::uint32_t atom) const { return atoms_left_[atom]; }

  /// Returns the candidate with the highest value, the first one in source order if several are equal; nullptr: none.
  [[nodiscard]] const step_candidate* best() const;
  /// Calls visit(candidate) for all candidates in source order.
  template <class Visit>
  void for_each(const Visit& visit) const {
    for (const auto& [atoms, candidate] : candidates_) visit(candidate);
  }

  /// Replaces the atoms of a candidate by an atom of a relation; removes the candidate's tests.
  void replace(const step_candidate& step, body_atom reading);
  /// Updates the values of steps with this key.
  void weigh_again(const std::vector<std::uint64_t>& key);
  [[nodiscard]] normalized_rule take_rule() &&;
  /// Returns the present rule.
  [[nodiscard]] normalized_rule present_rule() const { return step_candidates(*this).take(); }

 private:
  using atom_pair = std::pair<std::uint32_t, std::uint32_t>;

  normalized_rule take();
  void add_atom(std::uint32_t atom);
  void remove_atom(std::uint32_t atom);
  void add_candidate(atom_pair atoms);
  void remove_candidate(atom_pair atoms);
  void remove_tests(const step_candidate& step);
  void find_candidates(const variable_set& variables);
  [[nodiscard]] bool make_candidate(atom_pair atoms, step_candidate& result) const;
  void use_tests(const variable_set& own, step_candidate& result, variable_set& needed) const;

  normalized_rule rule_;
  const std::set<relation_id>* recursive_;
  worth_function worth_;
  std::size_t atom_count_, condition_count_, negation_count_;
  std::vector<bool> atoms_left_, conditions_left_, negations_left_;
  std::vector<variable_set> of_atoms_, of_conditions_, of_negations_;
  std::vector<std::set<std::uint32_t>> atoms_with_, conditions_with_, negations_with_;  ///< by variable
  std::vector<std::uint32_t> conditions_without_variables_;
  std::vector<bool> in_head_;  ///< by variable
  std::map<atom_pair, step_candidate> candidates_;
  std::map<std::vector<std::uint64_t>, std::set<atom_pair>> by_key_;
  std::map<atom_pair, std::size_t> worths_;
  std::set<std::tuple<std::size_t, atom_pair>> order_;  ///< in order of decreasing value
};

}  // namespace gpulog::plan
