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

/// Replaces atoms of relations declared `inline` by the bodies of their clauses (where check_inlining allows it). What
/// cannot be replaced, a negated atom of definitions with variables of their own, say, leaves the relation one that is
/// evaluated. Variables that stand in a record of the definition's head are no such ones: the record that a negated
/// atom asks for is taken apart, `!r(p)` with `r([x, y]) :- x < y.` is `(p = nil ; p = [x, y], !(x < y))`.
class inliner {
 public:
  /// Reports inline relations that depend on each other in a cycle; nothing is inlined then.
  inliner(const std::vector<syntax::item>& items, const declarations& declared, diagnostics& diagnostics);

  /// The clause with the atoms replaced; nothing when there is nothing to replace.
  [[nodiscard]] std::optional<syntax::clause> expand(const syntax::clause& clause);

  /// Whether clauses with this head are evaluated: always but for an inline relation of which expand() replaced all
  /// atoms. To be asked when all clauses were expanded.
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
    bool has_own_variables = false;  ///< ones that nothing of the atom gives a value
    syntax::conjunction body;
  };
  [[nodiscard]] instance_of_body instance(const definition& chosen, const syntax::atom& atom, bool negated);
  /// Makes the two equal: by a value of a variable of the definition, or by an equality that is appended. Records and
  /// branches are compared field by field as far as both are written out. False: no values make them equal.
  /// @param type of both, if it is known
  [[nodiscard]] bool unify(const syntax::argument& formal, const syntax::argument& actual, std::optional<type_id> type,
                           unification& result);
  /// Takes the value apart as the constructor says that the definition's head has there. Nothing where that is not
  /// possible, else as unify.
  [[nodiscard]] std::optional<bool> open(const syntax::argument& formal, const syntax::argument& value,
                                         std::optional<type_id> type, unification& result);
  /// The term with its type said, where nothing else would: a record that stands for a variable in an inequality.
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
