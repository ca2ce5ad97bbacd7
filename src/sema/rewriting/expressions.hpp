#pragma once

#include <cstdint>
#include <vector>

#include "sema/program.hpp"

/// Builds expressions of a rule.
namespace gpulog::sema {

[[nodiscard]] expression variable_of(value_kind kind, std::uint32_t variable, const source_span& span = {});
[[nodiscard]] expression constant_of(value_kind kind, wide_word value, const source_span& span = {});
[[nodiscard]] expression operation_of(scalar_op op, value_kind kind, std::vector<expression> arguments,
                                      const source_span& span = {});
[[nodiscard]] expression record_of(value_kind kind, std::vector<expression> fields, const source_span& span = {});

}  // namespace gpulog::sema
