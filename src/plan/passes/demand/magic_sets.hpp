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

/// Restricts a relation inside a recursion that reads only few keys of the relation. The full relation is computed
/// once, after the fixpoint.
///
/// In CSPA, `MemoryAlias(x,w) :- Dereference(y,x), ValueAlias(y,z), Dereference(z,w)` is the only read of ValueAlias in
/// the recursion: pairs of sources of Dereference. The stratum therefore gets `ValueAlias@1`, with the rules of
/// ValueAlias and both columns restricted to `Dereference@1(x) :- Dereference(x,_)`. The rules of ValueAlias itself
/// move to a later stratum, where they read complete relations. This is the magic-sets method with demands that are
/// known before the fixpoint begins.
///
/// The restriction is correct for three reasons. A rule that reads `R(y,z)` and `e(y,_)`, with e complete, uses R only
/// where y is in the first column of e. The restricted R contains all tuples of R for these keys, and no other tuples.
/// Each column is restricted separately, by the union of the demands of all readers in the stratum. R may read itself
/// in columns that are bound in the same way, or with a variable that the head has in the same column.
///
/// The restriction applies to the atoms of the rules: the rules read `ValueFlow@1(z,x) :- ValueFlow(z,x),
/// Dereference@1(x)` instead of ValueFlow where x is restricted, so an index returns only demanded rows.
///
/// Bound of a wrong estimate: the restricted relation and the copies are parts of relations that the recursion without
/// restrictions derives or reads as well, and the rules read these parts only. The recursion therefore does at most the
/// work that it would do without restrictions, and the full relation repeats at most the work of its own rules: at most
/// twice the time and the memory.
namespace gpulog::plan {

class planning;

/// Values that a reader demands: the values of a variable in an atom of a complete relation, or a constant.
struct demand_source {
  body_atom atom;  ///< one variable, number 0, which may be repeated; the other arguments are constants or unnamed
  std::uint32_t column = 0;  ///< first column of the variable
  std::optional<term> constant;
};

/// Canonical form of a source: equal for equal atoms and equal constants.
using source_key = std::vector<std::uint64_t>;

struct demanded_column {
  std::uint32_t column = 0;
  std::map<source_key, demand_source> sources;
};

/// A relation of a recursive stratum, with the columns that its readers in the stratum bind.
struct demand {
  relation_id relation;
  std::vector<demanded_column> columns;
  bool reads_itself = false;  ///< one of its rules reads the relation
  bool loses_join = false;    ///< one of its rules joins by a variable that the head does not contain
  bool is_row_wise = true;    ///< by their form, row-wise evaluation may run the rules (row_equations.hpp)
};

class magic_sets_rewriter {
 public:
  /// @param relations relations of the plan; may grow
  magic_sets_rewriter(const sema::program& source, const std::vector<relation>& relations, relation_maker make_relation,
                      relation_namer name_of)
      : source_(source),
        relations_(relations),
        make_relation_(std::move(make_relation)),
        name_of_(std::move(name_of)) {}

  /// Returns whether the first column is expected to have fewer values than the second.
  using column_preference = std::function<bool(column_place, column_place)>;

  /// Returns the relations of the stratum that the rules allow to restrict.
  [[nodiscard]] std::vector<demand> find(const stratum_rules& stratum, const column_preference& prefers) const;

  /// Replaces the full relation with the restricted relation. Rules of restricted copies of members become patterns.
  [[nodiscard]] restriction apply(const demand& asked, stratum_rules& stratum);

  /// Returns an atom that reads a copy of the atom's relation: its named columns, in the rows that pass all tests.
  /// @param tests atoms of complete relations; their variables are numbers of the atom's columns
  /// @param around the rule of the atom
  /// @param rules receives the rule of the copy, unless the copy exists
  [[nodiscard]] body_atom restrict_atom(const body_atom& atom, const std::vector<body_atom>& tests,
                                        const normalized_rule& around, std::vector<normalized_rule>& rules);

 private:
  /// Test that the value of an argument is in a unary relation.
  struct value_test {
    term argument;
    relation_id values;
  };
  [[nodiscard]] relation_id values_of(const demanded_column& asked, const normalized_rule& around, restriction& made);
  [[nodiscard]] std::vector<value_test> tests_of(const normalized_rule& rule, const demand& asked,
                                                 const restriction& made) const;
  [[nodiscard]] normalized_rule restrict_rule(const normalized_rule& rule, const demand& asked, restriction& made,
                                              stratum_rules& stratum);

  const sema::program& source_;
  const std::vector<relation>& relations_;
  relation_maker make_relation_;
  relation_namer name_of_;
  std::map<std::vector<source_key>, relation_id> values_;  // unary relations created so far
  // restricted copies of relations, by their restriction
  std::map<std::vector<std::uint64_t>, relation_id> restricted_;
};

/// Applies the pass: restricts the relations of a recursive stratum that magic_sets_choice (magic_sets_choice.hpp)
/// selects, one after the other.
void apply_magic_sets(planning& shared, stratum_rules& stratum);

}  // namespace gpulog::plan
