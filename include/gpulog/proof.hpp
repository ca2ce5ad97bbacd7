#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "gpulog/export.hpp"

namespace gpulog {

/// Why a tuple is there, as a tree: the tuple is the head of an instance of a rule, and the premises are its body. The
/// height of each premise is less than that of the tuple, so that no tuple stands on itself.
struct proof {
  enum class kind : std::uint8_t {
    fact,       ///< it was given: in the text, in a file, or inserted
    derived,    ///< by `rule` from `premises`
    cut,        ///< derived too, but deeper than was asked for: engine::why() of `text` goes on
    condition,  ///< no tuple: a negation, a constraint, an aggregate or a range of the rule that holds
    unknown     ///< it is there, and no proof is shown; `note` says why
  };

  kind what = kind::fact;
  std::string text;          ///< as in a program: `reach(1, "b")`, `!cut(2)`, `3 < 5`
  std::string relation;      ///< of a tuple
  std::uint64_t height = 0;  ///< of a tuple: 0 of a fact, else one more than that of its highest premise
  /// Of a derived tuple: whether no proof has less height. Where very many proofs would have to be looked at, it is one
  /// of less height than others that were found.
  bool is_least = true;
  std::string rule;             ///< as the program has it
  std::size_t rule_number = 0;  ///< among the rules of the relation, from 1; 0: the closure of an equivalence relation
  std::string location;         ///< of the rule: file and line
  std::string note;             ///< for people, where there is more to say
  std::vector<proof> premises;  ///< in the order of the rule's body
};

/// A rule that does not derive a tuple, and what of its body holds.
struct failed_rule {
  /// A literal of the body with the values that are known.
  struct part {
    std::string text;
    std::optional<bool> holds;  ///< nothing: it depends on variables without a value
  };

  std::size_t number = 0;  ///< among the rules of the relation, from 1
  std::string rule;
  std::string location;
  bool fits_head = true;                    ///< false: its head can never be this tuple; then there are no parts
  std::vector<std::string> free_variables;  ///< those that neither the head nor the caller gives a value
  std::vector<part> parts;                  ///< in the order of the body
};

/// What a question about tuples holds for.
struct tuple_matches {
  std::vector<std::string> variables;            ///< in the order of the question
  std::vector<std::vector<std::string>> values;  ///< of each match, by variable, as in a program; each match once
  bool is_all = true;                            ///< false: there may be more
};

/// Values of variables by their names, as in a program: {{"y", "2"}}.
using variable_values = std::map<std::string, std::string>;

/// One JSON object: "tuple", "kind", "height", "rule", "rule_number", "location", "premises", as the fields of `proof`.
[[nodiscard]] GPULOG_API std::string to_json(const proof& shown);

/// The tree with the conclusion at the bottom, as Soufflé draws it: premises side by side above a line with the number
/// of the rule. @param cut_names by cut tuple, from left to right, what stands for it
[[nodiscard]] GPULOG_API std::string to_text(const proof& shown, const std::vector<std::string>& cut_names = {});

/// The same for a rule that fails: each literal with a mark whether it holds. @param tuple the conclusion
[[nodiscard]] GPULOG_API std::string to_text(const failed_rule& shown, const std::string& tuple);

}  // namespace gpulog
