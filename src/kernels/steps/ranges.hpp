#pragma once

#include <cmath>
#include <cstdint>

#include "backend/gpu/host_device.hpp"
#include "kernels/steps/scalar.hpp"

/// The values of range(from, to, step), numbered; identical on every backend.
namespace gpulog::kernels {

/// Larger than any useful range; keeps row numbers meaningful for an infinite end.
constexpr std::uint64_t most_range_values = std::uint64_t{1} << 48;

/// Returns from + number * step, rounded twice: a fused operation on a device would differ.
[[nodiscard]] GPULOG_HOST_DEVICE inline float float_range_value(float from, float step, std::uint64_t number) {
  return backend::add_product(from, static_cast<float>(number), step);
}
[[nodiscard]] GPULOG_HOST_DEVICE inline double float_range_value(double from, double step, std::uint64_t number) {
  return backend::add_product(from, static_cast<double>(number), step);
}

/// Returns the step of a range with two arguments: towards its end.
template <class Word>
[[nodiscard]] GPULOG_HOST_DEVICE inline Word default_step(value_kind kind, Word from, Word to) {
  if (kind == value_kind::floating) {
    return from_float(as_float(from) <= as_float(to) ? float_of<Word>{1} : float_of<Word>{-1});
  }
  const bool ascends = kind == value_kind::unsigned_number ? from <= to : as_number(from) <= as_number(to);
  return ascends ? Word{1} : ~Word{0};
}

template <class Float>
[[nodiscard]] GPULOG_HOST_DEVICE inline std::uint64_t float_range_size(Float from, Float to, Float step) {
  if (step == 0) return from != to ? 1 : 0;
  if (!(step > 0 ? from < to : from > to)) return 0;
  const double steps = std::ceil((static_cast<double>(to) - static_cast<double>(from)) / static_cast<double>(step));
  if (!(steps < static_cast<double>(most_range_values))) return most_range_values;
  std::uint64_t count = steps < 1 ? 1 : static_cast<std::uint64_t>(steps);
  // Rounding of the values may shift the end.
  while (count > 1) {
    const Float last = float_range_value(from, step, count - 1);
    if (step > 0 ? last < to : last > to) break;
    --count;
  }
  return count;
}

/// Returns the number of values from `from` in steps before `to`; with step zero, 1 unless `from` equals `to`.
template <class Word>
[[nodiscard]] GPULOG_HOST_DEVICE inline std::uint64_t range_size(value_kind kind, Word from, Word to, Word step) {
  if (kind == value_kind::floating) return float_range_size(as_float(from), as_float(to), as_float(step));
  if (step == 0) return from != to ? 1 : 0;
  Word distance = 0;
  Word by = step;
  if (kind == value_kind::unsigned_number) {
    // Minus one is the default step downwards; any different unsigned step goes upwards.
    if (from > to) return step == ~Word{0} ? from - to : 0;
    distance = to - from;
  } else {
    const bool ascends = as_number(step) > 0;
    if (ascends ? as_number(from) >= as_number(to) : as_number(from) <= as_number(to)) return 0;
    distance = ascends ? to - from : from - to;
    by = ascends ? step : Word{0} - step;
  }
  return std::uint64_t{distance / by} + (distance % by == 0 ? 0 : 1);
}

/// Returns the value after `number` steps.
template <class Word>
[[nodiscard]] GPULOG_HOST_DEVICE inline Word range_value(value_kind kind, Word from, Word step, std::uint64_t number) {
  if (kind == value_kind::floating) return from_float(float_range_value(as_float(from), as_float(step), number));
  return from + step * static_cast<Word>(number);
}

}  // namespace gpulog::kernels
