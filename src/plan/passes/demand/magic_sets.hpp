#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "plan/passes/relations/supplementary.hpp"
#include "plan/plan.hpp"
#include "plan/rules/normalized_rule.hpp"
#include "plan/rules/rule_text.hpp"
#include "plan/rules/stratum_rules.hpp"
#include "sema/program.hpp"

/// Relations that a recursion reads at few keys only: there they are computed inside the fixpoint, and in full once,
/// behind it.
///
/// In CSPA, `MemoryAlias(x,w) :- Dereference(y,x), ValueAlias(y,z), Dereference(z,w)` is all that the recursion reads
/// of ValueAlias: pairs of sources of Dereference. So the stratum gets `ValueAlias@1`, whose rules are those of
/// ValueAlias with both columns in `Dereference@1(x) :- Dereference(x,_)`, and ValueAlias has its own rules in a
/// stratum behind, where they read relations that are complete. It is what magic sets do, with demands that are known
/// before the fixpoint begins.
///
/// It is right because a rule that reads `R(y,z)` beside `e(y,_)`, e complete, has no other use for R than where y is
/// in the first column of e; because the restricted R holds all tuples of R there, and no others; and because every
/// column is restricted for itself, by the union of what all readers in the stratum ask for. R may read itself: at
/// columns that are bound in the same way, or with a variable that its head has in the same column.
///
/// The restriction goes into the rules' atoms: `ValueFlow@1(z,x) :- ValueFlow(z,x), Dereference@1(x)` is read in place
/// of ValueFlow where x is restricted, so that an index gives only rows that count. How many these are tells, while the
/// fixpoint runs, whether few are asked for (plan::restriction_watch).
namespace gpulog::plan {

class planning;

/// Values that a reader asks for: those of a variable in an atom of a complete relation, or a constant.
struct demand_source {
  body_atom atom;            ///< one variable, number 0, maybe more than once; else constants and unnamed arguments
  std::uint32_t column = 0;  ///< where the variable stands first
  std::optional<term> constant;
};

/// Canonical form of a source: equal for equal atoms and equal constants.
using source_key = std::vector<std::uint64_t>;

struct demanded_column {
  std::uint32_t column = 0;
  std::map<source_key, demand_source> sources;
};

/// A relation of a recursive stratum whose readers in it bind some columns.
struct demand {
  relation_id relation;
  std::vector<demanded_column> columns;
  bool reads_itself = false;  ///< in one of its rules
  bool loses_join = false;    ///< some rule of it joins by a variable that the head has not
};

class magic_sets_rewriter {
 public:
  /// relations: those of the plan, may grow.
  magic_sets_rewriter(const sema::program& source, const std::vector<relation>& relations, relation_maker make_relation,
                      relation_namer name_of)
      : source_(source),
        relations_(relations),
        make_relation_(std::move(make_relation)),
        name_of_(std::move(name_of)) {}

  /// Whether fewer values are expected in the first column than in the second one.
  using column_preference = std::function<bool(column_place, column_place)>;

  /// Relations of the stratum that its rules allow to restrict. Not those that have rows from elsewhere.
  [[nodiscard]] std::vector<demand> find(const stratum_rules& stratum, const column_preference& prefers) const;

  /// Puts the restricted relation in the place of the full one. Rules for restricted copies of members become patterns.
  [[nodiscard]] restriction apply(const demand& asked, stratum_rules& stratum);

 private:
  /// That the values of an argument are in a unary relation.
  struct value_test {
    term argument;
    relation_id values;
  };
  /// The same for a column of an atom.
  struct column_test {
    std::uint32_t column = 0;
    relation_id values;
  };

  [[nodiscard]] relation_id values_of(const demanded_column& asked, const normalized_rule& around, restriction& made);
  [[nodiscard]] std::vector<value_test> tests_of(const normalized_rule& rule, const demand& asked,
                                                 const restriction& made) const;
  [[nodiscard]] normalized_rule restrict_rule(const normalized_rule& rule, const demand& asked, restriction& made,
                                              stratum_rules& stratum);
  static void note_reads(const normalized_rule& rule, const normalized_rule& restricted,
                         const std::set<relation_id>& growing, restriction& made);
  [[nodiscard]] body_atom restrict_atom(const body_atom& atom, const std::vector<column_test>& tests,
                                        const normalized_rule& around, restriction& made, stratum_rules& stratum);

  const sema::program& source_;
  const std::vector<relation>& relations_;
  relation_maker make_relation_;
  relation_namer name_of_;
  std::map<std::vector<source_key>, relation_id> values_;         // unary relations that were made
  std::map<std::vector<std::uint64_t>, relation_id> restricted_;  // copies of relations, by what they keep
};

/// The pass: magic_sets_choice (magic_sets_choice.hpp) says which relations of a recursive stratum to restrict, one
/// after the other.
void apply_magic_sets(planning& shared, stratum_rules& stratum);

}  // namespace gpulog::plan
