#pragma once

#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "sema/rewriting/flat_clause.hpp"
#include "sema/types/clause_types.hpp"
#include "support/diagnostics.hpp"

namespace gpulog::sema {

/// Explains the actual and expected types of a clause's terms, for messages only. Analyses the clause separately, so
/// that clauses without errors cost nothing.
class type_origins {
 public:
  /// All arguments must outlive this object.
  type_origins(const declarations& declared, const flat_clause& clause, const clause_types& types);

  /// Adds notes to an error at a term without a type: the type of the term alone and the expected type. Adds no notes
  /// if the types are unknown.
  void explain_mismatch(const syntax::argument& term, diagnostics::entry& error) const;

  /// Adds a note about the source of a term's type, unless the source is obvious from the term.
  void explain_type(const syntax::argument& term, diagnostics::entry& error) const;

  /// Adds notes about the parameter and result types of a functor.
  static void explain_functor(const functor_signature& signature, diagnostics::entry& error);

 private:
  struct origin {
    std::vector<value_kind> kinds;  ///< possible kinds; several only for literals
    std::string type;               ///< as named in messages
    std::string reason;             ///< a sentence; empty if the term shows the type
    source_span where;              ///< location of the reason
  };
  struct use {
    std::optional<origin> asked;               ///< type required by a declaration
    const syntax::argument* beside = nullptr;  ///< or a term that must have the same type
    bool binds = false;                        ///< an argument of a positive atom
  };
  /// Variables and calls on the current path, to stop at cyclic dependencies.
  using visited = std::unordered_set<const void*>;

  void visit_body(const flat_conjunction& body, const std::vector<relation_id>& relations);
  void visit_atom(const syntax::atom& atom, relation_id relation, bool binds);
  void visit_constraint(const syntax::constraint& constraint);
  void visit(const syntax::argument& term);
  void visit_call(const syntax::argument& term, const syntax::functor_call& call);
  void visit_user_call(const syntax::user_functor_call& call);
  void visit_aggregate(const syntax::argument& term, const syntax::aggregate& aggregate);
  void visit_fields(const std::vector<syntax::argument>& fields, const std::vector<type_id>& types,
                    const std::string& owner);
  void add_use(const syntax::argument& term, use added);

  [[nodiscard]] const std::vector<use>& uses_of(const syntax::argument& term) const;
  [[nodiscard]] origin declared_as(type_id type, std::string reason, const source_span& where) const;
  /// Returns the type of a term independent of its position.
  [[nodiscard]] std::optional<origin> own(const syntax::argument& term) const;
  [[nodiscard]] std::optional<origin> own(const syntax::argument& term, visited& seen) const;
  [[nodiscard]] std::optional<origin> of_variable(const syntax::argument& term, visited& seen) const;
  [[nodiscard]] std::optional<origin> of_call(const syntax::functor_call& call, visited& seen) const;
  [[nodiscard]] std::optional<origin> of_aggregate(const syntax::aggregate& aggregate, visited& seen) const;
  [[nodiscard]] std::optional<origin> asked_of(const use& one) const;

  const declarations& declared_;
  const flat_clause& clause_;
  const clause_types& types_;
  std::unordered_map<const syntax::argument*, std::vector<use>> uses_;
  std::unordered_map<std::string, std::vector<use>> variable_uses_;
};

}  // namespace gpulog::sema
