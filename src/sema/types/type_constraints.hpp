#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <variant>
#include <vector>

#include "sema/types/functors.hpp"
#include "sema/types/types.hpp"
#include "support/source.hpp"

namespace gpulog::sema {

enum class type_precision : std::uint8_t {
  declared,
  kinds,  ///< number, unsigned, float and symbol represent all their subtypes
};

/// Type inference for the terms of one clause. Each term is an unknown with a set of possible types; constraints shrink
/// the sets up to a fixpoint. An empty set is a type error at the term; the set of all types means that no constraint
/// determined the type.
class type_constraints {
 public:
  using unknown = std::uint32_t;

  explicit type_constraints(const type_environment& types, type_precision precision = type_precision::declared)
      : types_(types), precision_(precision) {}

  unknown add_unknown();

  /// Requires a subtype of `bound`.
  void require_subtype(unknown term, type_id bound, source_span where);
  /// Requires that every type of `term` is a subtype of a type of `bound`.
  void require_subtype(unknown term, unknown bound);
  /// Requires one of the kinds (for an untyped literal).
  void require_kind_among(unknown term, std::vector<value_kind> kinds, source_span where);
  /// Requires result = functor(arguments) for one of the signature's overloads.
  void require_overload(unknown result, std::vector<unknown> arguments, const functor_signature& signature);

  struct placed {
    unknown term;
    source_span where;
  };
  /// Requires record = [fields]: each field has a subtype of the field's declared type, once the record type is known.
  void require_record(unknown record, std::vector<placed> fields);

  void solve();

  [[nodiscard]] const type_set& types(unknown term) const { return solution_[term]; }
  /// Returns the unique record type or algebraic data type of the term; invalid if not unique.
  [[nodiscard]] structure_id structure(unknown term) const;
  /// Returns the kind for the evaluation: the only possible kind, or the first possible of number, unsigned, float,
  /// symbol.
  [[nodiscard]] value_kind kind(unknown term) const;
  /// Returns the overload that matches the kinds of the arguments; nullptr if no overload does.
  [[nodiscard]] const functor_overload* overload(unknown result, const std::vector<unknown>& arguments,
                                                 const functor_signature& signature) const;

  /// Returns whether some overload accepts the arguments, for any result.
  [[nodiscard]] bool takes(const std::vector<unknown>& arguments, const functor_signature& signature) const;

  /// A requirement on a term, for messages.
  struct demand {
    unknown term = 0;
    type_id type;
    source_span where;
  };
  /// Returns all requirements on the term itself.
  [[nodiscard]] std::vector<demand> demands_on(unknown term) const;
  /// Returns a minimal set of requirements that no type satisfies together; empty if a type satisfies all requirements.
  [[nodiscard]] std::vector<demand> incompatible_demands(unknown term) const;
  /// Returns the terms that must have the same type as `term`, without repetition: the terms whose requirements
  /// contradict the requirements on `term`, or all terms if no requirement does.
  [[nodiscard]] std::vector<unknown> incompatible_terms(unknown term) const;

 private:
  struct bound_by_type {
    unknown term;
    type_id bound;
  };
  struct bound_by_term {
    unknown term, bound;
  };
  struct among {
    unknown term;
    std::vector<value_kind> kinds;
  };
  struct overloaded {
    unknown result;
    std::vector<unknown> arguments;
    const functor_signature* signature;
  };
  struct constructed {
    unknown record;
    std::vector<placed> fields;
  };
  using constraint = std::variant<bound_by_type, bound_by_term, among, overloaded, constructed>;

  void add(constraint added, std::vector<unknown> terms);
  void enqueue(std::uint32_t number);
  void set(unknown term, type_set types);
  void shrink(unknown term, const type_set& bound);
  void shrink_to_kinds(unknown term, const std::vector<value_kind>& kinds);
  void apply(const bound_by_type& bound) { shrink(bound.term, type_set({bound.bound})); }
  void apply(const bound_by_term& bound) { shrink(bound.term, solution_[bound.bound]); }
  void apply(const among& choice) { shrink_to_kinds(choice.term, choice.kinds); }
  void apply(const overloaded& functor);
  void apply(const constructed& record);
  [[nodiscard]] bool may_have(unknown term, value_kind kind) const;
  [[nodiscard]] bool fits(const functor_overload& candidate, unknown result,
                          const std::vector<unknown>& arguments) const;

  /// Returns the types that satisfy all requirements.
  [[nodiscard]] type_set met_by(const std::vector<demand>& demands) const;

  /// Returns the required bound for a named type, according to the precision.
  [[nodiscard]] type_id bound_of(type_id named) const;

  const type_environment& types_;
  type_precision precision_;
  std::vector<type_set> solution_;
  std::vector<constraint> constraints_;
  std::vector<std::vector<std::uint32_t>> watchers_;  ///< by unknown: constraints to reapply when its set shrinks
  /// Pending constraints; functors come after all others, so that a wrong operand is reported at the functor.
  std::deque<std::uint32_t> waiting_, waiting_functors_;
  std::vector<bool> is_waiting_;
  std::vector<demand> demands_;
};

}  // namespace gpulog::sema
