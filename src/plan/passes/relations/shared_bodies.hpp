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

/// Shares the bodies of clauses with several heads. `a(x,y), b(y,x) :- e(x,z), f(z,y).` is one rule per head, with the
/// same join in each. The pass creates the relation `a@1(x,y) :- e(x,z), f(z,y)`, evaluated before the first stratum of
/// the heads, and the rules read the relation. Its tuples are distinct, so a head without other rules is a copy of the
/// relation and needs no tuple set (plan/passes/relations/needless_sets.hpp).
///
/// Bound: each needed variable is an argument of at least one head, which therefore has at least the rows of the
/// relation.
///
/// Applies if three heads need the same variables, or two heads if the body has three atoms. A head that needs fewer
/// variables only tests whether values for the other variables exist, which costs less than enumerating them. Does not
/// apply to bodies of one atom, whose relation would be a copy, to bodies with aggregates, ranges or counters, or to
/// rules with `.plan`. Does not apply in a recursion: the relation would also grow by deltas, and results that depend
/// on the iteration of a tuple would change.
class shared_bodies {
 public:
  /// @param needed by relation: whether the relation is planned
  shared_bodies(const sema::program& source, const std::vector<bool>& needed);

  /// Replaces the body of the rule with an atom of the shared relation, if the body is shared.
  /// @return the rule of the relation if the call created the relation; to be planned before the rule
  [[nodiscard]] std::optional<normalized_rule> share(normalized_rule& rule, const relation_maker& make_relation,
                                                     const relation_namer& name_of);
  /// Returns the number of rules that read the last created relation.
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

/// Applies shared_bodies::share and plans the shared relation before the rule.
void share_body(planning& shared, normalized_rule& rule);

}  // namespace gpulog::plan
