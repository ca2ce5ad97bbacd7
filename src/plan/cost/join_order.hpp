#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "plan/cost/cost_model.hpp"
#include "plan/plan.hpp"
#include "plan/rules/normalized_rule.hpp"

/// The order in which a rule's literals are evaluated: atoms by estimated cost or as `.plan` says, everything else as
/// early as its variables are bound.
namespace gpulog::plan {

/// Reads an atom: binds its unbound variables, compares the bound ones.
struct read_atom {
  std::uint32_t atom = 0;  ///< number in normalized_rule::atoms
};
/// Asks that no tuple agrees.
struct reject_atom {
  std::uint32_t negation = 0;
};
struct test_condition {
  std::uint32_t condition = 0;
};
/// From here on `variable` has the value of the expression, whose variables are bound.
struct define_variable {
  std::uint32_t variable = 0;
  sema::expression value;
};

/// The fields of a record that is bound: binds unbound variables, compares the others. Fails for nil.
struct match_record {
  sema::expression record;   ///< a variable or a constant
  sema::expression pattern;  ///< a record of variables, constants and unnamed fields
};

struct step;
/// result = aggregate over the body, whose steps these are.
struct fold_matches {
  std::uint32_t aggregation = 0;
  bool compares = false;  ///< the result is bound already: compare
  std::vector<step> body;
};
struct expand_range {
  std::uint32_t generation = 0;
  bool compares = false;
};

/// Binds the variable in a column of the delta atom, an equivalence relation, to each element that has a pair in delta.
/// The pairs themselves are read by read_atom later.
struct read_changed_elements {
  std::uint32_t atom = 0;
  std::uint32_t column = 0;
};

struct step {
  std::variant<read_atom, read_changed_elements, reject_atom, test_condition, define_variable, match_record,
               fold_matches, expand_range>
      action;
  double bindings = 1;  ///< estimate, behind the step
};

struct schedule {
  std::vector<step> steps;
  double cost = 0;             ///< estimated number of bindings made and probes done
  std::uint32_t products = 0;  ///< atoms of which all rows are read for each binding
  std::string reason;
};

/// What one version of a rule reads.
struct version_parts {
  std::optional<std::uint32_t> delta_atom;
  std::vector<part> atoms;  ///< by number of the atom
  /// By number of the atom, may be empty: it may find rows that a subsumption took away, so the tuple set is asked.
  std::vector<bool> tested;
};

/// The order of the atoms that a schedule reads, as `.plan` would give it; empty: it does not follow from atoms alone.
[[nodiscard]] std::vector<std::uint32_t> atoms_in_order(const schedule& order);

/// Orders the body of one version. `forced`: positions of all positive atoms, from `.plan`.
[[nodiscard]] schedule order_body(const normalized_rule& rule, const version_parts& parts, const cost_model& costs,
                                  const std::vector<std::uint32_t>* forced = nullptr);

}  // namespace gpulog::plan
