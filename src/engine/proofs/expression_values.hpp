#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "engine/engine_state.hpp"
#include "sema/program.hpp"

namespace gpulog::detail {

/// Values of a rule's variables, and of expressions over them. Words are as they stand in columns.
class expression_values {
 public:
  expression_values(engine_state& engine, std::size_t variables)
      : engine_(&engine), values_(variables), is_bound_(variables) {}

  [[nodiscard]] bool is_bound(std::uint32_t variable) const { return is_bound_[variable] != 0; }
  [[nodiscard]] word operator[](std::uint32_t variable) const { return values_[variable]; }
  void bind(std::uint32_t variable, word value) {
    values_[variable] = value;
    is_bound_[variable] = 1;
    bound_.push_back(variable);
  }
  /// For undo(): what is bound from here on.
  [[nodiscard]] std::size_t mark() const { return bound_.size(); }
  void undo(std::size_t mark) {
    for (; bound_.size() > mark; bound_.pop_back()) is_bound_[bound_.back()] = 0;
  }

  /// Whether all variables of an expression are bound.
  [[nodiscard]] bool knows(const sema::expression& e) const;
  /// Of an expression whose variables are bound; nothing where it has none: a division by zero, a record that is not
  /// there.
  [[nodiscard]] std::optional<word> value(const sema::expression& e);
  [[nodiscard]] bool holds(comparison_op op, word left, word right) const;
  /// Whether a value is of this form; variables that are not bound are then.
  [[nodiscard]] bool unify(const sema::expression& pattern, word value);

 private:
  [[nodiscard]] std::optional<word> compute(const sema::expression& e);
  [[nodiscard]] word compute_words(scalar_op op, const std::vector<word>& arguments) const;

  engine_state* engine_;
  std::vector<word> values_;
  std::vector<std::uint8_t> is_bound_;
  std::vector<std::uint32_t> bound_;  ///< in order
};

/// Whether the value depends on how often or when it is asked for: autoinc() and recursive_iteration_cnt().
[[nodiscard]] bool counts(const sema::expression& e);

}  // namespace gpulog::detail
