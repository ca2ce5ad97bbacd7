#pragma once

#include <cstdint>

#include "kernels/scalar.hpp"

/// The values of range(from, to, step), numbered.
namespace gpulog::kernels {

/// The step of a range of two arguments: towards its end.
[[nodiscard]] word default_step(value_kind kind, word from, word to);

/// How many values: those from `from` on in steps before `to`; with a step of zero one, when `from` is not `to`.
[[nodiscard]] std::uint64_t range_size(value_kind kind, word from, word to, word step);

/// The value after `number` steps.
[[nodiscard]] inline word range_value(value_kind kind, word from, word step, std::uint64_t number) {
  if (kind == value_kind::floating) return from_float(as_float(from) + static_cast<float>(number) * as_float(step));
  return from + step * static_cast<word>(number);
}

}  // namespace gpulog::kernels
