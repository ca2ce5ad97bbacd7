#pragma once

#include <vector>

#include "plan/plan.hpp"

namespace gpulog::plan {

/// Columns whose values meet only each other and constants of the program text, and are only compared: no operator
/// computes values of the class or computes with these values. Replacing each value with a distinct other value does
/// not change the meaning of the program.
struct encodable_domain {
  std::vector<column_place> columns;  ///< ascending, all of one kind: numbers, unsigned numbers or symbols
  value_kind kind = value_kind::number;
  bool is_ordered = false;  ///< the program also compares the values by order, so an encoding must keep the order
  /// constants of the program text; pointers into the plan, valid until the plan changes
  std::vector<wide_word*> constants;
};

/// Returns all classes of the plan's columns.
[[nodiscard]] std::vector<encodable_domain> find_encodable_domains(program& plan);

}  // namespace gpulog::plan
