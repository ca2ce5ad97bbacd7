#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "sema/program.hpp"

namespace gpulog::plan {

/// An argument of an atom in a body.
struct term {
  enum class form : std::uint8_t { unnamed, variable, constant };
  form what = form::unnamed;
  std::uint32_t value = 0;  ///< number of the variable
  value_kind kind = value_kind::number;
  wide_word literal = 0;  ///< the constant

  [[nodiscard]] bool is_variable() const { return what == form::variable; }
  [[nodiscard]] bool is_constant() const { return what == form::constant; }
  friend bool operator==(const term&, const term&) = default;
};

struct body_atom {
  relation_id relation;
  std::vector<term> arguments;
  bool is_equivalence = false;  ///< set by the planner
};

struct condition {
  comparison_op op = comparison_op::equal;
  sema::expression left, right;
};

/// result = each value of range(arguments).
struct generation {
  value_kind kind = value_kind::number;
  sema::expression result;
  std::vector<sema::expression> arguments;
};

struct aggregation;

/// A rule with its literals sorted by kind. Equal variables are one variable, variables that equal a constant are
/// replaced by the constant, and constant expressions are folded.
struct normalized_rule {
  word_size words = word_size::bits32;
  rule_id id;
  relation_id head;
  std::vector<sema::expression> head_arguments;
  std::vector<body_atom> atoms;  ///< positive atoms, in source order
  std::vector<body_atom> negations;
  std::vector<condition> conditions;
  std::vector<aggregation> aggregations;
  std::vector<generation> generations;
  std::vector<sema::variable> variables;
  std::vector<sema::execution_order> plans;
  bool unsatisfiable = false;  ///< a condition on constants is false
  std::string text;
  std::string location;  ///< "file [line:column-line:column]"
  /// The rule that runs instead once a relation that this rule extends or reads is abandoned (stratum::supplementary);
  /// nullptr: none.
  std::shared_ptr<const normalized_rule> original = nullptr;
};

/// Returns the order that `.plan` specifies for a version, if it covers all atoms.
[[nodiscard]] const std::vector<std::uint32_t>* forced_order(const normalized_rule& rule, std::uint32_t version);

/// Returns the rule as written.
[[nodiscard]] inline std::shared_ptr<const normalized_rule> original_of(const normalized_rule& rule) {
  return rule.original != nullptr ? rule.original : std::make_shared<const normalized_rule>(rule);
}

/// result = op over the target in all matches of the body, a rule whose only head argument is the target. The variables
/// have the same numbers as in the enclosing rule.
struct aggregation {
  fold_op op = fold_op::count;
  std::uint32_t functor = 0;  ///< functor that folds
  wide_word initial = 0;      ///< initial value of the functor's fold
  sema::expression result;
  std::vector<std::uint32_t> injected;  ///< variables bound outside
  /// Whether a match is an assignment of the named variables instead of a combination of rows
  /// (sema::counts_assignments).
  bool by_assignment = false;
  normalized_rule body;
};

[[nodiscard]] normalized_rule normalize(const sema::rule& source, word_size words);

/// Appends the numbers of an expression's variables, in order, possibly repeated.
void append_variables(const sema::expression& tree, std::vector<std::uint32_t>& variables);
/// Appends the variables that an aggregation needs or binds in the enclosing rule, or the variables of a generation.
void append_variables(const aggregation& folded, std::vector<std::uint32_t>& variables);
void append_variables(const generation& made, std::vector<std::uint32_t>& variables);
/// Appends the variables of an atom's arguments.
void append_variables(const body_atom& atom, std::vector<std::uint32_t>& variables);

/// Returns a variable of the rule as an argument of a head, or of an atom in a body.
[[nodiscard]] sema::expression variable_expression(const normalized_rule& rule, std::uint32_t variable);
[[nodiscard]] term variable_term(const normalized_rule& rule, std::uint32_t variable);

/// Renumbers the variables that a rule (with literals and a head only) uses, in their order, and removes the other
/// variables.
void drop_unused_variables(normalized_rule& rule);

}  // namespace gpulog::plan
