#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "plan/cost/cost_model.hpp"
#include "plan/plan.hpp"
#include "plan/rules/normalized_rule.hpp"

/// The evaluation order of a rule's literals: atoms by estimated cost or as `.plan` says, all other literals as soon as
/// their variables are bound.
namespace gpulog::plan {

/// Reads an atom: binds its unbound variables and compares the bound variables.
struct read_atom {
  std::uint32_t atom = 0;  ///< index in normalized_rule::atoms
};
/// Tests that no tuple matches.
struct reject_atom {
  std::uint32_t negation = 0;
};
struct test_condition {
  std::uint32_t condition = 0;
};
/// Sets `variable` to the value of the expression, whose variables are bound.
struct define_variable {
  std::uint32_t variable = 0;
  sema::expression value;
};

/// Matches the fields of a bound record: binds unbound variables and compares the bound ones. Fails for nil.
struct match_record {
  sema::expression record;   ///< a variable or a constant
  sema::expression pattern;  ///< a record of variables, constants and unnamed fields
};

struct step;
/// result = aggregate over the body with these steps.
struct fold_matches {
  std::uint32_t aggregation = 0;
  bool compares = false;  ///< the result is already bound: compare
  std::vector<step> body;
};
struct expand_range {
  std::uint32_t generation = 0;
  bool compares = false;
};

/// Binds the variable in a column of the delta atom, an equivalence relation, to each element that has a pair in the
/// delta. A later read_atom reads the pairs.
struct read_changed_elements {
  std::uint32_t atom = 0;
  std::uint32_t column = 0;
};

struct step {
  std::variant<read_atom, read_changed_elements, reject_atom, test_condition, define_variable, match_record,
               fold_matches, expand_range>
      action;
  double bindings = 1;  ///< estimate, after the step
};

struct schedule {
  std::vector<step> steps;
  double cost = 0;             ///< estimated number of bindings and probes
  std::uint32_t products = 0;  ///< number of atoms that read all rows for each binding
  std::string reason;
};

/// The parts of relations that one version of a rule reads.
struct version_parts {
  std::optional<std::uint32_t> delta_atom;
  std::vector<row_part> atoms;  ///< by number of the atom
  /// By number of the atom, may be empty: whether the atom may read rows that a subsumption removed, so that the
  /// version tests each row in the tuple set.
  std::vector<bool> tested;
};

/// Returns the order of the atoms that a schedule reads, in the form of `.plan`; empty if atoms alone do not determine
/// the schedule.
[[nodiscard]] std::vector<std::uint32_t> atoms_in_order(const schedule& order);

/// Orders the body of one version.
/// @param forced positions of all positive atoms, from `.plan`
[[nodiscard]] schedule order_body(const normalized_rule& rule, const version_parts& parts, const cost_model& costs,
                                  const std::vector<std::uint32_t>* forced = nullptr);

}  // namespace gpulog::plan
