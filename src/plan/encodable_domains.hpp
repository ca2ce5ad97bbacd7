#pragma once

#include <vector>

#include "plan/plan.hpp"

namespace gpulog::plan {

/// Columns whose values only meet each other and constants of the text, and are only compared: no operator makes one or
/// computes with one. Whatever takes the place of the values, one for each, the program means the same.
struct encodable_domain {
  std::vector<column_place> columns;  ///< ascending, all of one kind: numbers, unsigned numbers or symbols
  value_kind kind = value_kind::number;
  bool is_ordered = false;            ///< they are compared by their order as well, which has to stay
  std::vector<wide_word*> constants;  ///< of the text: in the plan, as long as nobody changes that
};

/// All classes of the plan's columns.
[[nodiscard]] std::vector<encodable_domain> find_encodable_domains(program& plan);

}  // namespace gpulog::plan
