#pragma once

#include <cstdint>
#include <optional>

#include "sema/program.hpp"
#include "sema/rewriting/movement.hpp"

/// Relations that keep the best value for each combination of their other columns: the kept column, and the
/// corresponding subsumption.
namespace gpulog::sema {

[[nodiscard]] bool is_least(fold_op op);
[[nodiscard]] bool is_greatest(fold_op op);
[[nodiscard]] bool is_count_or_sum(fold_op op);
/// Returns how the result of an aggregate changes as its matches grow.
[[nodiscard]] movement movement_of(fold_op op);

/// The column of a relation that holds the best value for the other columns.
struct value_column {
  std::uint32_t column = 0;
  fold_op op = fold_op::min_number;
  bool by_subsumption = false;  ///< from a subsumption of the program, not from an aggregate
  [[nodiscard]] movement moves() const { return movement_of(op); }
};

/// Returns the column that `relation(keys, worse) <= relation(keys, better) :- better < worse.` keeps; empty for other
/// subsumptions.
[[nodiscard]] std::optional<value_column> kept_value(const rule& subsumption);

/// Adds the corresponding subsumption to a relation.
void add_subsumption(program& program, relation_id id, const value_column& value);

}  // namespace gpulog::sema
