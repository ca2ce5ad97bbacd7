#pragma once

#include <cstdint>
#include <optional>

#include "sema/program.hpp"
#include "sema/rewriting/movement.hpp"

/// Relations that keep the best value for each value of their other columns: what they keep, and by which subsumption.
namespace gpulog::sema {

[[nodiscard]] bool is_least(fold_op op);
[[nodiscard]] bool is_greatest(fold_op op);
[[nodiscard]] bool is_count_or_sum(fold_op op);
/// Where the result of an aggregate goes as its matches get more.
[[nodiscard]] movement movement_of(fold_op op);

/// The column of a relation that holds the best value of the others.
struct value_column {
  std::uint32_t column = 0;
  fold_op op = fold_op::min_number;
  bool by_subsumption = false;  ///< as the program has it, without an aggregate
  [[nodiscard]] movement moves() const { return movement_of(op); }
};

/// The value that `relation(keys, worse) <= relation(keys, better) :- better < worse.` keeps; nothing for other
/// subsumptions.
[[nodiscard]] std::optional<value_column> kept_value(const rule& subsumption);

/// Adds such a rule to a relation.
void add_subsumption(program& program, relation_id id, const value_column& value);

}  // namespace gpulog::sema
