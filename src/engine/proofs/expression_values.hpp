#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "engine/run_context.hpp"
#include "sema/program.hpp"

namespace gpulog::detail {

/// Values of a rule's variables, and of expressions over the variables. Words have the form that columns store.
class expression_values {
 public:
  expression_values(run_context& context, std::size_t variables)
      : context_(&context), values_(variables), is_bound_(variables) {}

  [[nodiscard]] bool is_bound(std::uint32_t variable) const { return is_bound_[variable] != 0; }
  [[nodiscard]] word operator[](std::uint32_t variable) const { return values_[variable]; }
  void bind(std::uint32_t variable, word value) {
    values_[variable] = value;
    is_bound_[variable] = 1;
    bound_.push_back(variable);
  }
  /// Returns the state for a later undo() of all following bindings.
  [[nodiscard]] std::size_t mark() const { return bound_.size(); }
  void undo(std::size_t mark) {
    for (; bound_.size() > mark; bound_.pop_back()) is_bound_[bound_.back()] = 0;
  }

  /// Returns whether all variables of an expression are bound.
  [[nodiscard]] bool knows(const sema::expression& e) const;
  /// Returns the value of an expression with bound variables; empty if the evaluation fails (a division by zero, a
  /// record that does not exist).
  [[nodiscard]] std::optional<word> value(const sema::expression& e);
  [[nodiscard]] bool holds(comparison_op op, word left, word right) const;
  /// Returns whether a value matches the pattern, and binds its unbound variables.
  [[nodiscard]] bool unify(const sema::expression& pattern, word value);

 private:
  [[nodiscard]] std::optional<word> compute(const sema::expression& e);
  [[nodiscard]] word compute_words(scalar_op op, const std::vector<word>& arguments) const;

  run_context* context_;
  std::vector<word> values_;
  std::vector<std::uint8_t> is_bound_;
  std::vector<std::uint32_t> bound_;  ///< in order of binding
};

/// Returns whether the value depends on the number or time of evaluations: autoinc() and recursive_iteration_cnt().
[[nodiscard]] bool counts(const sema::expression& e);

}  // namespace gpulog::detail
