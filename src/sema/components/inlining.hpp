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

/// Replaces atoms of relations declared `inline` by the bodies of their clauses (where check_inlining allows it). Where
/// an atom cannot be replaced, its relation is evaluated: a negated atom, if the definition has variables that the head
/// does not bind. Variables in a record of the head are bound, as the record of a negated atom is taken apart:
/// `!r(p)` with `r([x, y]) :- x < y.` is `(p = nil ; p = [x, y], !(x < y))`.
class inliner {
 public:
  /// Reports inline relations that depend on each other in a cycle; nothing is inlined then.
  inliner(const std::vector<syntax::item>& items, const declarations& declared, diagnostics& diagnostics);

  /// The clause with the atoms replaced; nothing when there is nothing to replace.
  [[nodiscard]] std::optional<syntax::clause> expand(const syntax::clause& clause);

  /// Whether clauses with this head are evaluated: not those of an inline relation all of whose atoms expand() has
  /// replaced. Ask when all clauses are expanded.
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
  /// A value that is taken apart by a constructor whose fields are variables.
  struct opened_value {
    syntax::argument value;
    syntax::argument constructor;
    std::vector<syntax::argument> others;  ///< constructors of all values that this one doesn't make
  };
  /// What a definition's body becomes where an atom stands.
  struct unification {
    std::map<std::string, syntax::argument> values;  ///< of the definition's variables
    std::vector<std::pair<syntax::argument, syntax::argument>> equal;
    bool opens = false;                ///< takes records apart rather than say that they are equal
    std::vector<opened_value> opened;  ///< outer ones first
  };
  struct instance_of_body {
    bool can_hold = true;
    bool has_own_variables = false;  ///< ones that the atom gives no value
    syntax::conjunction body;
  };
  [[nodiscard]] instance_of_body instance(const definition& chosen, const syntax::atom& atom, bool negated);
  /// Makes the two equal: by a value of a variable of the definition, or by an equality that is appended. Records and
  /// branches are compared field by field as far as both are written out. False: no values make them equal.
  /// @param type of both, if it is known
  [[nodiscard]] bool unify(const syntax::argument& formal, const syntax::argument& actual, std::optional<type_id> type,
                           unification& result);
  /// Takes the value apart by the constructor that the definition's head has in its place. @return as unify; nothing
  /// where that is not possible
  [[nodiscard]] std::optional<bool> open(const syntax::argument& formal, const syntax::argument& value,
                                         std::optional<type_id> type, unification& result);
  /// The term in a cast to its type: a record in place of a variable of an inequality has no type otherwise.
  [[nodiscard]] syntax::argument typed(syntax::argument term, std::optional<type_id> type);
  [[nodiscard]] std::optional<type_id> field_type(std::optional<type_id> record, std::size_t field) const;

  const declarations& declared_;
  std::map<std::string, std::vector<definition>> definitions_;  ///< of inline relations
  std::set<std::string> kept_;
  std::uint64_t opened_fields_ = 0;
  std::uint64_t copies_ = 0;  ///< of definitions, also the number of the current one
  bool replaced_ = false;     ///< in the clause at hand
};

}  // namespace gpulog::sema
