#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "sema/types/declarations.hpp"
#include "support/diagnostics.hpp"
#include "syntax/ast.hpp"

namespace gpulog::sema {

/// Replaces atoms of `inline` relations with the bodies of their clauses (as far as check_inlining allows). If an atom
/// cannot be replaced, the relation is evaluated: this applies to negated atoms whose definition has variables that the
/// head does not bind. Variables in a record of the head are bound, because the record of a negated atom is
/// destructured: `!r(p)` with `r([x, y]) :- x < y.` becomes `(p = nil ; p = [x, y], !(x < y))`.
class inliner {
 public:
  /// Reports inline relations that depend on each other in a cycle; then nothing is inlined.
  inliner(const std::vector<syntax::item>& items, const declarations& declared, diagnostics& diagnostics);

  /// Returns the clause with atoms replaced; empty if there is nothing to replace.
  [[nodiscard]] std::optional<syntax::clause> expand(const syntax::clause& clause);

  /// Returns whether clauses with this head are evaluated: false for an inline relation whose atoms expand() has all
  /// replaced. Call after all clauses are expanded.
  [[nodiscard]] bool is_evaluated(const std::string& relation) const {
    return !definitions_.contains(relation) || kept_.contains(relation);
  }

 private:
  struct definition {
    const syntax::atom* head;
    const syntax::clause* clause;
  };

  [[nodiscard]] std::optional<std::string> find_cycle() const;
  void expand(std::vector<syntax::conjunction>& alternatives, bool negated, std::size_t depth);
  void expand(syntax::literal& literal, bool negated, std::size_t depth);
  void replace(syntax::literal& literal, bool negated, std::size_t depth);
  /// A value that is destructured by a constructor with variables as fields.
  struct opened_value {
    syntax::argument value;
    syntax::argument constructor;
    std::vector<syntax::argument> others;  ///< constructors of all other values of the type
  };
  /// The bindings that result from replacing an atom with a definition.
  struct unification {
    std::map<std::string, syntax::argument> values;  ///< values of variables in the definition
    std::vector<std::pair<syntax::argument, syntax::argument>> equal;
    bool opens = false;                ///< destructure records instead of adding equalities
    std::vector<opened_value> opened;  ///< outer values first
  };
  struct instance_of_body {
    bool can_hold = true;
    bool has_own_variables = false;  ///< variables that the atom does not bind
    syntax::conjunction body;
  };
  [[nodiscard]] instance_of_body instance(const definition& chosen, const syntax::atom& atom, bool negated);
  /// Makes two terms equal, either by a value of a variable of the definition, or by an added equality. Records and
  /// branches are compared field by field as far as both are written out. Returns false if the terms can never be
  /// equal.
  /// @param type type of both terms, if known
  [[nodiscard]] bool unify(const syntax::argument& formal, const syntax::argument& actual, std::optional<type_id> type,
                           unification& result);
  /// Destructures the value with the constructor in the definition's head.
  /// @return as unify(); empty if this is impossible
  [[nodiscard]] std::optional<bool> open(const syntax::argument& formal, const syntax::argument& value,
                                         std::optional<type_id> type, unification& result);
  /// Returns the term in a cast to its type: otherwise a record that replaces a variable of an inequality would have no
  /// type.
  [[nodiscard]] syntax::argument typed(syntax::argument term, std::optional<type_id> type);
  [[nodiscard]] std::optional<type_id> field_type(std::optional<type_id> record, std::size_t field) const;

  const declarations& declared_;
  std::map<std::string, std::vector<definition>> definitions_;  ///< definitions of inline relations
  std::set<std::string> kept_;
  std::uint64_t opened_fields_ = 0;
  std::uint64_t copies_ = 0;  ///< number of copied definitions, also the number of the current copy
  bool replaced_ = false;     ///< in the current clause
};

}  // namespace gpulog::sema
