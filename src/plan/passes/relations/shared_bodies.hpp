#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <vector>

#include "plan/passes/relations/supplementary.hpp"
#include "plan/rules/normalized_rule.hpp"
#include "plan/rules/rule_text.hpp"
#include "sema/program.hpp"

namespace gpulog::plan {

class planning;

/// Bodies of clauses with several heads. `a(x,y), b(y,x) :- e(x,z), f(z,y).` is a rule for each head, with the same
/// join in each. It becomes a relation, `a@1(x,y) :- e(x,z), f(z,y)`, that is made before the first of the heads'
/// strata, and the rules read it. Its tuples are distinct, so a head that has no other rule is a copy of it and needs
/// no tuple set (plan/passes/relations/needless_sets.hpp).
///
/// Done where three heads need the same variables, or two heads, if the body has three atoms. A head that needs fewer
/// variables only asks whether there are values for the others, which is less work than to find them all. Not done for
/// bodies of one atom, of which the relation would be a copy, for those with aggregates, ranges or counters, or in the
/// order of a `.plan`. Nor in a recursion: the relation would be one more that grows by deltas, and whatever depends on
/// the iteration of a tuple would change.
class shared_bodies {
 public:
  /// @param needed by relation: whether it is planned
  shared_bodies(const sema::program& source, const std::vector<bool>& needed);

  /// The rule reads the relation of its body, where that is shared. @return the relation's rule, to be planned before,
  /// where it has just been made
  [[nodiscard]] std::optional<normalized_rule> share(normalized_rule& rule, const relation_maker& make_relation,
                                                     const relation_namer& name_of);
  /// How many rules read the relation that was made last.
  [[nodiscard]] std::size_t readers() const { return readers_; }

 private:
  struct body {
    std::size_t readers = 0;
    relation_id made;
  };

  const sema::program& source_;
  std::vector<body> bodies_;
  std::map<rule_id, std::size_t> body_of_;
  std::size_t readers_ = 0;
};

/// shared_bodies::share, with the relation planned before.
void share_body(planning& shared, normalized_rule& rule);

}  // namespace gpulog::plan
