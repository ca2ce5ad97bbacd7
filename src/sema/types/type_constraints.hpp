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
  kinds,  ///< number, unsigned, float and symbol stand for all of their subtypes
};

/// The terms of one clause as unknowns, each with the set of types it may have; constraints shrink the sets until
/// nothing changes. An empty set is a type error at that term, a set of all types says that nothing determined it.
class type_constraints {
 public:
  using unknown = std::uint32_t;

  explicit type_constraints(const type_environment& types, type_precision precision = type_precision::declared)
      : types_(types), precision_(precision) {}

  unknown add_unknown();

  /// term has a subtype of `bound`.
  void require_subtype(unknown term, type_id bound, source_span where);
  /// Every type of `term` is a subtype of one of `term`'s counterpart `bound`.
  void require_subtype(unknown term, unknown bound);
  /// term has one of these kinds (an untyped literal).
  void require_kind_among(unknown term, std::vector<value_kind> kinds, source_span where);
  /// result = functor(arguments) by one of the signature's overloads.
  void require_overload(unknown result, std::vector<unknown> arguments, const functor_signature& signature);

  struct placed {
    unknown term;
    source_span where;
  };
  /// record = [fields]: each field has a subtype of the field's type once the record type is known.
  void require_record(unknown record, std::vector<placed> fields);

  void solve();

  [[nodiscard]] const type_set& types(unknown term) const { return solution_[term]; }
  /// The one record type or algebraic data type that the term has; invalid when there is none or more than one.
  [[nodiscard]] structure_id structure(unknown term) const;
  /// The kind that the term is evaluated with: the only one, or the first of number, unsigned, float, symbol.
  [[nodiscard]] value_kind kind(unknown term) const;
  /// The overload that fits the arguments' kinds; nullptr when there is none.
  [[nodiscard]] const functor_overload* overload(unknown result, const std::vector<unknown>& arguments,
                                                 const functor_signature& signature) const;

  /// Whether some overload takes the arguments, whatever it gives.
  [[nodiscard]] bool takes(const std::vector<unknown>& arguments, const functor_signature& signature) const;

  /// What was asked of a term, for messages.
  struct demand {
    unknown term = 0;
    type_id type;
    source_span where;
  };
  /// All that types demand of the term itself.
  [[nodiscard]] std::vector<demand> demands_on(unknown term) const;
  /// Those of them that no type meets together, as few as say so; none if all can be met.
  [[nodiscard]] std::vector<demand> incompatible_demands(unknown term) const;
  /// Terms that have to have the term's type, each once: those of which the demands do not go with the term's own, or
  /// all if there are none such.
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

  /// What types meet all of these demands.
  [[nodiscard]] type_set met_by(const std::vector<demand>& demands) const;

  /// What is required where a type is named.
  [[nodiscard]] type_id bound_of(type_id named) const;

  const type_environment& types_;
  type_precision precision_;
  std::vector<type_set> solution_;
  std::vector<constraint> constraints_;
  std::vector<std::vector<std::uint32_t>> watchers_;  ///< by unknown: the constraints that look at it
  /// Constraints to apply; functors after all others, so that a wrong operand is reported at the functor.
  std::deque<std::uint32_t> waiting_, waiting_functors_;
  std::vector<bool> is_waiting_;
  std::vector<demand> demands_;
};

}  // namespace gpulog::sema
