#include "kernels/ranges.hpp"

#include <cmath>

namespace gpulog::kernels {

namespace {

/// Beyond any use; keeps row numbers meaningful where an end is infinite.
constexpr std::uint64_t most_values = std::uint64_t{1} << 48;

std::uint64_t steps_before(std::uint64_t distance, std::uint64_t step) { return (distance + step - 1) / step; }

std::uint64_t float_range_size(float from, float to, float step) {
  if (step == 0.0F) return from != to ? 1 : 0;
  if (!(step > 0 ? from < to : from > to)) return 0;
  const double steps = std::ceil((static_cast<double>(to) - static_cast<double>(from)) / static_cast<double>(step));
  if (!(steps < static_cast<double>(most_values))) return most_values;
  std::uint64_t count = steps < 1 ? 1 : static_cast<std::uint64_t>(steps);
  // The values themselves are rounded.
  const auto is_inside = [&](std::uint64_t number) {
    const float value = from + static_cast<float>(number) * step;
    return step > 0 ? value < to : value > to;
  };
  while (count > 1 && !is_inside(count - 1)) --count;
  return count;
}

}  // namespace

word default_step(value_kind kind, word from, word to) {
  if (kind == value_kind::floating) return from_float(as_float(from) <= as_float(to) ? 1.0F : -1.0F);
  const bool ascends = kind == value_kind::unsigned_number ? from <= to : as_number(from) <= as_number(to);
  return ascends ? 1 : from_number(-1);
}

std::uint64_t range_size(value_kind kind, word from, word to, word step) {
  if (kind == value_kind::floating) return float_range_size(as_float(from), as_float(to), as_float(step));
  if (step == 0) return from != to ? 1 : 0;
  if (kind == value_kind::unsigned_number) {
    // Minus one is the default step downwards; other unsigned steps lead upwards.
    if (from > to) return step == from_number(-1) ? from - to : 0;
    return steps_before(std::uint64_t{to} - from, step);
  }
  const std::int64_t first = as_number(from);
  const std::int64_t last = as_number(to);
  const std::int64_t by = as_number(step);
  if (by > 0)
    return first < last ? steps_before(static_cast<std::uint64_t>(last - first), static_cast<std::uint64_t>(by)) : 0;
  return first > last ? steps_before(static_cast<std::uint64_t>(first - last), static_cast<std::uint64_t>(-by)) : 0;
}

}  // namespace gpulog::kernels
