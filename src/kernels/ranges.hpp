#pragma once

#include <cmath>
#include <cstdint>

#include "kernels/scalar.hpp"
#include "support/host_device.hpp"

/// The values of range(from, to, step), numbered. The same on every backend.
namespace gpulog::kernels {

/// Beyond any use; keeps row numbers meaningful where an end is infinite.
constexpr std::uint64_t most_range_values = std::uint64_t{1} << 48;

/// from + number * step, rounded twice: a device would fuse the two.
[[nodiscard]] GPULOG_HOST_DEVICE inline float float_range_value(float from, float step, std::uint64_t number) {
#if defined(__CUDA_ARCH__)
  return __fadd_rn(from, __fmul_rn(static_cast<float>(number), step));
#else
  return from + static_cast<float>(number) * step;
#endif
}

/// The step of a range of two arguments: towards its end.
[[nodiscard]] GPULOG_HOST_DEVICE inline word default_step(value_kind kind, word from, word to) {
  if (kind == value_kind::floating) return from_float(as_float(from) <= as_float(to) ? 1.0F : -1.0F);
  const bool ascends = kind == value_kind::unsigned_number ? from <= to : as_number(from) <= as_number(to);
  return ascends ? 1 : from_number(-1);
}

[[nodiscard]] GPULOG_HOST_DEVICE inline std::uint64_t float_range_size(float from, float to, float step) {
  if (step == 0.0F) return from != to ? 1 : 0;
  if (!(step > 0 ? from < to : from > to)) return 0;
  const double steps = std::ceil((static_cast<double>(to) - static_cast<double>(from)) / static_cast<double>(step));
  if (!(steps < static_cast<double>(most_range_values))) return most_range_values;
  std::uint64_t count = steps < 1 ? 1 : static_cast<std::uint64_t>(steps);
  // The values themselves are rounded.
  while (count > 1) {
    const float last = float_range_value(from, step, count - 1);
    if (step > 0 ? last < to : last > to) break;
    --count;
  }
  return count;
}

/// How many values: those from `from` on in steps before `to`; with a step of zero one, when `from` is not `to`.
[[nodiscard]] GPULOG_HOST_DEVICE inline std::uint64_t range_size(value_kind kind, word from, word to, word step) {
  if (kind == value_kind::floating) return float_range_size(as_float(from), as_float(to), as_float(step));
  if (step == 0) return from != to ? 1 : 0;
  std::uint64_t distance = 0;
  std::uint64_t by = 0;
  if (kind == value_kind::unsigned_number) {
    // Minus one is the default step downwards; other unsigned steps lead upwards.
    if (from > to) return step == from_number(-1) ? from - to : 0;
    distance = std::uint64_t{to} - from;
    by = step;
  } else {
    const std::int64_t first = as_number(from);
    const std::int64_t last = as_number(to);
    const std::int64_t signed_step = as_number(step);
    if (signed_step > 0 ? first >= last : first <= last) return 0;
    distance = static_cast<std::uint64_t>(signed_step > 0 ? last - first : first - last);
    by = static_cast<std::uint64_t>(signed_step > 0 ? signed_step : -signed_step);
  }
  return (distance + by - 1) / by;
}

/// The value after `number` steps.
[[nodiscard]] GPULOG_HOST_DEVICE inline word range_value(value_kind kind, word from, word step, std::uint64_t number) {
  if (kind == value_kind::floating) return from_float(float_range_value(as_float(from), as_float(step), number));
  return from + step * static_cast<word>(number);
}

}  // namespace gpulog::kernels
