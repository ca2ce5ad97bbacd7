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

/// Which types the terms of a clause have and should have, and what says so: for messages only. Looks at the clause
/// anew, so that a clause without errors pays nothing.
class type_origins {
 public:
  /// All live as long as this.
  type_origins(const declarations& declared, const flat_clause& clause, const clause_types& types);

  /// To an error at a term that has no type: which one it has by itself, and which one its place asks for. Adds nothing
  /// where that is not known.
  void explain_mismatch(const syntax::argument& term, diagnostics::entry& error) const;

  /// Where a term's type comes from, if it is not plain from the term itself.
  void explain_type(const syntax::argument& term, diagnostics::entry& error) const;

  /// What arguments a functor takes and what it gives.
  static void explain_functor(const functor_signature& signature, diagnostics::entry& error);

 private:
  struct origin {
    std::vector<value_kind> kinds;  ///< what it may be; one but for literals
    std::string type;               ///< as messages name it
    std::string reason;             ///< a sentence; empty where the term itself says it
    source_span where;              ///< of the reason
  };
  struct use {
    std::optional<origin> asked;               ///< by a declaration
    const syntax::argument* beside = nullptr;  ///< or a term that has to have the same type
    bool binds = false;                        ///< it is an argument of a positive atom
  };
  /// Variables and calls that are being looked at: types may come from each other in circles.
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
  /// What is known of a term without the place that it stands at.
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
