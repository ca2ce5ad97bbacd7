#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "gpulog/export.hpp"

namespace gpulog {

/// A proof tree: the tuple is the head of a rule instance, and the premises are its body. Each premise has a smaller
/// height than the tuple, so no tuple depends on itself.
struct proof {
  enum class kind : std::uint8_t {
    fact,       ///< given in the text or a file, or inserted
    derived,    ///< derived by `rule` from `premises`
    cut,        ///< derived, but below the depth limit: continue with engine::why() of `text`
    condition,  ///< not a tuple: a negation, constraint, aggregate or range of the rule, which holds
    unknown     ///< exists, but no proof is available; `note` says why
  };

  kind what = kind::fact;
  std::string text;          ///< as in a program: `reach(1, "b")`, `!cut(2)`, `3 < 5`
  std::string relation;      ///< for a tuple
  std::uint64_t height = 0;  ///< for a tuple: 0 for a fact, otherwise one more than its highest premise
  /// For a derived tuple: whether the height is minimal. With too many possible proofs, the search stops and returns
  /// the lowest proof so far.
  bool is_least = true;
  std::string rule;  ///< as in the program
  /// 1-based number among the rules of the relation; 0: closure of an equivalence relation
  std::size_t rule_number = 0;
  std::string location;         ///< of the rule: file and line
  std::string note;             ///< additional explanation for users
  std::vector<proof> premises;  ///< in the order of the rule's body
};

/// A rule that does not derive a tuple, and which literals of its body hold.
struct failed_rule {
  /// A literal of the body with its known values.
  struct part {
    std::string text;
    /// With free variables: whether this literal and all literals to its left have a common match. Nothing: unknown, or
    /// a literal to the left does not hold.
    std::optional<bool> holds;
  };

  std::size_t number = 0;  ///< 1-based number among the rules of the relation
  std::string rule;
  std::string location;
  bool fits_head = true;                    ///< false: the head can never equal this tuple, and `parts` is empty
  std::vector<std::string> free_variables;  ///< variables with a value neither from the head nor from the caller
  std::vector<part> parts;                  ///< in the order of the body
};

/// The answers to a question about tuples.
struct tuple_matches {
  std::vector<std::string> variables;            ///< in the order of the question
  std::vector<std::vector<std::string>> values;  ///< by match and variable, as in a program; without duplicates
  bool is_all = true;                            ///< false: more matches may exist
  bool is_ground = true;                         ///< the question has neither variables nor `_`
  /// For a question of one atom: its matching tuples, as in a program, one per match.
  std::vector<std::string> tuples = {};
};

/// Values of variables by name, as in a program: {{"y", "2"}}.
using variable_values = std::map<std::string, std::string>;

/// Returns a JSON object with the keys "tuple", "kind", "height", "rule", "rule_number", "location", "premises", like
/// the fields of `proof`.
[[nodiscard]] GPULOG_API std::string to_json(const proof& shown);

/// Draws the tree as Soufflé does, with the conclusion at the bottom: premises side by side above a line with the
/// number of the rule.
/// @param cut_names replacements for cut tuples, from left to right
/// @param columns a wider tree is printed as an indented list, with the conclusion first and the location of each rule
[[nodiscard]] GPULOG_API std::string to_text(const proof& shown, const std::vector<std::string>& cut_names = {},
                                             std::size_t columns = SIZE_MAX);

/// The same for a failed rule: marks whether each literal holds.
/// @param tuple the conclusion
[[nodiscard]] GPULOG_API std::string to_text(const failed_rule& shown, const std::string& tuple,
                                             std::size_t columns = SIZE_MAX);

}  // namespace gpulog
