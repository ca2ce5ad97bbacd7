#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "plan/cost_model.hpp"
#include "plan/normalized_rule.hpp"
#include "plan/plan.hpp"

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

struct step {
  std::variant<read_atom, reject_atom, test_condition, define_variable> action;
  double bindings = 1;  ///< estimate, behind the step
};

struct schedule {
  std::vector<step> steps;
  double cost = 0;  ///< estimated number of bindings made and probes done
  std::string reason;
};

/// What one version of a rule reads.
struct version_parts {
  std::optional<std::uint32_t> delta_atom;
  std::vector<part> atoms;  ///< by number of the atom
};

/// Orders the body of one version. `forced`: positions of all positive atoms, from `.plan`.
[[nodiscard]] schedule order_body(const normalized_rule& rule, const version_parts& parts, const cost_model& costs,
                                  const std::vector<std::uint32_t>* forced = nullptr);

}  // namespace gpulog::plan
