#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sema/program.hpp"

/// Sideways information passing: what a rule knows of an atom's arguments when it comes to the atom (Bancilhon, Maier,
/// Sagiv, Ullman, PODS 1986; Beeri, Ramakrishnan, PODS 1987).
namespace gpulog::plan {

/// By column: whether it is bound ('b' in the literature) when a relation is asked, or free ('f').
using adornment = std::vector<bool>;

[[nodiscard]] bool binds_anything(const adornment& bound);
/// "bf" for a relation whose first of two columns is bound.
[[nodiscard]] std::string to_text(const adornment& bound);

/// A relation as it is asked: for the tuples that agree with given values in the bound columns.
struct goal {
  relation_id relation;
  adornment bound;
  friend auto operator<=>(const goal&, const goal&) = default;
};

/// Relations that answer a goal: its tuples, and the values that it is asked for.
struct goal_relations {
  relation_id answers, asked;
};

/// Decides what is read as a goal.
class goal_reader {
 public:
  goal_reader() = default;
  goal_reader(const goal_reader&) = delete;
  goal_reader& operator=(const goal_reader&) = delete;
  virtual ~goal_reader() = default;

  /// Whether atoms of the relation may be goals; the others are complete, or part of the same recursion.
  [[nodiscard]] virtual bool may_ask(relation_id relation) const = 0;
  /// An atom of a relation that may be asked. @param constants its columns with constants @param bound these and those
  /// with values that are known @return nothing where the atom reads all of the relation
  [[nodiscard]] virtual std::optional<goal> ask(relation_id relation, const adornment& constants,
                                                const adornment& bound) = 0;
  [[nodiscard]] virtual goal_relations relations_of(const goal& asked) = 0;
  /// A rule that says which values a goal is asked for: its head is of goal_relations::asked.
  virtual void add_magic_rule(sema::rule rule) = 0;
};

/// The rule with its atoms read as goals where the reader wants it. For each of them there is a magic rule, from the
/// literals before it: as far as they are connected with what it is asked for, and neither compute values nor aggregate
/// (so that what is asked for consists of values that there are, and the recursion ends). Atoms of complete relations
/// that have a bound column come first, those with the largest share of bound columns before others, goals behind them.
/// Negated atoms and aggregates come last.
/// @param head the goal that the rule's head answers; nothing: it derives all of its relation
[[nodiscard]] sema::rule pass_sideways(const sema::rule& written, const std::optional<goal>& head, goal_reader& reader);

}  // namespace gpulog::plan
