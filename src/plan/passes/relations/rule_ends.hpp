#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "plan/rules/normalized_rule.hpp"

namespace gpulog::plan {

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

/// Finds the rules of a stratum with a given end. Ends that differ only in the names of variables share one search, and
/// a search compares only rules with the rarest atom of the end, so that a stratum may have thousands of rules.
class rule_ends {
 public:
  /// @param rules,recursive rules and relations of the stratum; must outlive the object
  rule_ends(const std::vector<normalized_rule>& rules, const std::set<relation_id>& recursive);

  /// Excludes a rule whose form changes. Searches return only rules in their original form and without tests.
  void remove(std::uint32_t rule) { is_plain_[rule] = false; }
  /// Returns whether a rule has the end.
  [[nodiscard]] bool has_match(const rule_end& end, relation_id head);
  /// Returns all rules with the end.
  [[nodiscard]] std::vector<std::uint32_t> matches(const rule_end& end, relation_id head);
  /// Returns the beginning of a rule with the end; nothing for other rules.
  [[nodiscard]] std::optional<matched_beginning> find_beginning(const rule_end& end, std::uint32_t number) const;

 private:
  /// An incomplete search for an end.
  struct found_rules {
    const std::vector<std::uint32_t>* candidates = nullptr;  ///< rules that may have the end; nullptr: no rules
    std::size_t compared = 0;                                ///< number of compared candidates
    std::vector<std::uint32_t> numbers;                      ///< compared candidates with the end
  };

  [[nodiscard]] found_rules& known_matches(const rule_end& end, relation_id head);
  /// Compares further candidates up to the next match.
  /// @return whether a candidate matched
  bool find_next(const rule_end& end, found_rules& found) const;
  /// Returns the rules with the rarest atom of the end.
  [[nodiscard]] const std::vector<std::uint32_t>* candidates_of(const rule_end& end, relation_id head) const;

  const std::vector<normalized_rule>* rules_;
  const std::set<relation_id>* recursive_;
  std::vector<bool> is_plain_;
  std::map<std::vector<std::uint64_t>, std::vector<std::uint32_t>> candidates_;  // by head and part of an atom
  std::map<std::vector<std::uint64_t>, found_rules> found_;
};

}  // namespace gpulog::plan
