#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sema/program.hpp"

/// Sideways information passing: the values that a rule knows about an atom's arguments when evaluation reaches the
/// atom (Bancilhon, Maier, Sagiv, Ullman, PODS 1986; Beeri, Ramakrishnan, PODS 1987).
namespace gpulog::plan {

/// By column: whether a query binds the column ('b' in the literature) or leaves it free ('f').
using adornment = std::vector<bool>;

[[nodiscard]] bool binds_anything(const adornment& bound);
/// Returns for example "bf" for a relation whose first of two columns is bound.
[[nodiscard]] std::string to_text(const adornment& bound);

/// A query of a relation: the tuples that agree with given values in the bound columns.
struct goal {
  relation_id relation;
  adornment bound;
  friend auto operator<=>(const goal&, const goal&) = default;
};

/// Relations of a goal: the answers, and the queried values.
struct goal_relations {
  relation_id answers, asked;
};

/// Decides which atoms are read as goals.
class goal_reader {
 public:
  goal_reader() = default;
  goal_reader(const goal_reader&) = delete;
  goal_reader& operator=(const goal_reader&) = delete;
  virtual ~goal_reader() = default;

  /// Returns whether atoms of the relation may be goals. Other relations are complete or part of the same recursion.
  [[nodiscard]] virtual bool may_ask(relation_id relation) const = 0;
  /// Registers an atom of a relation that may be a goal.
  /// @param constants columns with constants
  /// @param bound columns with constants or known values
  /// @return empty if the atom reads the full relation
  [[nodiscard]] virtual std::optional<goal> ask(relation_id relation, const adornment& constants,
                                                const adornment& bound) = 0;
  [[nodiscard]] virtual goal_relations relations_of(const goal& asked) = 0;
  /// Adds a rule that derives the queried values of a goal; its head is of goal_relations::asked.
  virtual void add_magic_rule(sema::rule rule) = 0;
};

/// Returns the rule with atoms replaced by goals where the reader requests it. Each goal gets a magic rule from the
/// earlier literals that are connected with the queried values and neither compute values nor aggregate. Queried values
/// are therefore existing values, and the recursion terminates. Atoms of complete relations with a bound column come
/// first, ordered by their share of bound columns, then goals. Negated atoms and aggregates come last.
/// @param head the goal that the rule's head answers; empty: the rule derives the full relation
[[nodiscard]] sema::rule pass_sideways(const sema::rule& written, const std::optional<goal>& head, goal_reader& reader);

}  // namespace gpulog::plan
