#pragma once

#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "sema/rewriting/flat_clause.hpp"
#include "sema/types/declarations.hpp"
#include "sema/types/type_constraints.hpp"
#include "support/diagnostics.hpp"

namespace gpulog::sema {

/// The types of all terms in one clause.
class clause_types {
 public:
  /// Infers the types. The clause must contain supported constructs only.
  clause_types(const declarations& declared, const flat_clause& clause,
               type_precision precision = type_precision::declared);

  /// Reports terms that have no type or a wrong one.
  /// @return whether all types are correct
  bool check(diagnostics& diagnostics) const;

  [[nodiscard]] value_kind kind(const syntax::argument& term) const { return constraints_.kind(unknown_of(term)); }
  [[nodiscard]] value_kind kind_of_variable(const std::string& name) const {
    return constraints_.kind(variables_.at(name));
  }
  /// Returns the branch that a constructor constructs.
  [[nodiscard]] const declarations::known_branch& branch(const syntax::branch_constructor& constructor) const {
    return *declared_.find_branch(constructor.branch.text);
  }
  [[nodiscard]] bool is_enumeration(const declarations::known_branch& branch) const {
    return declared_.is_enumeration(branch);
  }
  /// The type that a branch belongs to.
  [[nodiscard]] structure_id structure_of(const declarations::known_branch& branch) const {
    return declared_.types()[branch.type].structure;
  }
  [[nodiscard]] const declarations::known_functor& user_functor(const std::string& name) const {
    return *declared_.find_user_functor(name);
  }
  /// Returns the record type of a term, or an invalid id unless there is exactly one.
  [[nodiscard]] structure_id structure(const syntax::argument& term) const {
    return constraints_.structure(unknown_of(term));
  }
  [[nodiscard]] word_size words() const { return declared_.words(); }
  /// Returns whether the clause does not determine the type of the term.
  [[nodiscard]] bool is_untyped(const syntax::argument& term) const {
    return constraints_.types(unknown_of(term)).is_all();
  }
  /// Returns the overload for a functor call that check() accepted.
  [[nodiscard]] const functor_overload& overload(const syntax::argument& call) const;

 private:
  using unknown = type_constraints::unknown;

  void collect_atom(const syntax::atom& atom, relation_id relation, bool gives_types);
  void collect_body(const flat_conjunction& body, const std::vector<relation_id>& relations);
  void collect_constraint(const syntax::constraint& constraint);
  unknown collect(const syntax::argument& term);
  [[nodiscard]] unknown unknown_of(const syntax::argument& term) const { return terms_.at(&term); }

  /// Reports a term without a type and returns false.
  bool fail_at(const syntax::argument& term, std::string message, diagnostics& diagnostics) const;
  bool check_call(const syntax::argument& term, diagnostics& diagnostics) const;
  [[nodiscard]] bool takes_operands(const syntax::argument& call) const;
  bool check_format(const syntax::functor_call& call, diagnostics& diagnostics) const;
  bool check_structure(const syntax::argument& term, diagnostics& diagnostics) const;
  bool check_constant_or_cast(const syntax::argument& term, diagnostics& diagnostics) const;
  bool check_variable(const std::string& name, const source_span& where, diagnostics& diagnostics) const;
  bool check_columns(const syntax::atom& atom, relation_id relation, bool is_negated, diagnostics& diagnostics) const;
  void report_wrong_operands(const syntax::argument& term, const std::string& name, const functor_signature& signature,
                             diagnostics& diagnostics) const;
  bool report_out_of_range(const syntax::argument& term, const syntax::numeric_constant& number,
                           diagnostics& diagnostics) const;
  /// Reports the first literal of the tree that is no number of the word; false when there is none.
  bool report_out_of_range_in(const syntax::argument& tree, diagnostics& diagnostics) const;
  void warn_of_wrapping(diagnostics& diagnostics) const;
  [[nodiscard]] const syntax::argument& term_of(unknown wanted) const;
  /// Returns the source text of the term.
  [[nodiscard]] std::string text_of(unknown term) const;
  [[nodiscard]] std::vector<unknown> arguments_of(const syntax::functor_call& call) const;

  const declarations& declared_;
  const flat_clause& clause_;
  type_constraints constraints_;
  std::unordered_map<const syntax::argument*, unknown> terms_;
  std::vector<const syntax::argument*> order_;  ///< in the order of the text
  std::unordered_map<std::string, unknown> variables_;
  /// By record or constant: the call on the other side of a comparison.
  std::unordered_map<const syntax::argument*, const syntax::argument*> compared_calls_;
};

/// Returns the signature that relates an aggregate's target to its result; nullptr for count.
[[nodiscard]] const functor_signature* signature_of(syntax::aggregate_op op);

/// Returns the signature of an operator or built-in function; nullptr if it is not supported.
[[nodiscard]] const functor_signature* signature_of(syntax::functor op);

}  // namespace gpulog::sema
