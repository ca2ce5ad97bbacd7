#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

#include "support/host_device.hpp"
#include "support/ids.hpp"
#include "support/operations.hpp"

/// Operations on words as Soufflé has them: two's complement, masked shifts, the x86 results of conversions out of
/// range. The same on every backend, so nothing here relies on undefined behaviour.
namespace gpulog::kernels {

using signed_word = std::int32_t;

[[nodiscard]] GPULOG_HOST_DEVICE inline signed_word as_number(word w) { return static_cast<signed_word>(w); }
[[nodiscard]] GPULOG_HOST_DEVICE inline float as_float(word w) { return std::bit_cast<float>(w); }
[[nodiscard]] GPULOG_HOST_DEVICE inline word from_number(signed_word n) { return static_cast<word>(n); }
/// -0.0 is stored as 0.0, so that equal floats are equal words (NaN apart).
[[nodiscard]] GPULOG_HOST_DEVICE inline word from_float(float f) { return std::bit_cast<word>(f == 0.0F ? 0.0F : f); }

/// Out of range and NaN give the smallest number, as x86's conversion does.
[[nodiscard]] GPULOG_HOST_DEVICE inline signed_word double_to_number(double d) {
  constexpr double low = static_cast<double>(std::numeric_limits<signed_word>::min());
  constexpr double high = static_cast<double>(std::numeric_limits<signed_word>::max());
  if (!(d > low - 1.0 && d < high + 1.0)) return std::numeric_limits<signed_word>::min();
  return static_cast<signed_word>(d);
}
/// Converts by way of a 64-bit number and keeps its low word, as x86-64 compilers do.
[[nodiscard]] GPULOG_HOST_DEVICE inline word double_to_unsigned(double d) {
  constexpr double two_to_63 = 9223372036854775808.0;
  if (!(d >= -two_to_63 && d < two_to_63)) return 0;
  return static_cast<word>(static_cast<std::int64_t>(d));
}

constexpr unsigned shift_mask = sizeof(word) * 8 - 1;

/// Whether a division by this divisor traps.
[[nodiscard]] GPULOG_HOST_DEVICE inline bool divides_badly(scalar_op op, word left, word right) {
  if (right == 0) return true;
  const bool is_signed = op == scalar_op::divide_number || op == scalar_op::modulo_number;
  return is_signed && right == ~word{0} && as_number(left) == std::numeric_limits<signed_word>::min();
}
[[nodiscard]] GPULOG_HOST_DEVICE inline bool may_fault(scalar_op op) {
  return op == scalar_op::divide_number || op == scalar_op::modulo_number || op == scalar_op::divide_unsigned ||
         op == scalar_op::modulo_unsigned;
}

/// Operations on words that need nothing but the words. Divisors have been tested.
template <scalar_op Op>
[[nodiscard]] GPULOG_HOST_DEVICE inline word apply(word a, word b) {
  using enum scalar_op;
  if constexpr (Op == copy) return a;
  if constexpr (Op == add_number) return a + b;
  if constexpr (Op == subtract_number) return a - b;
  if constexpr (Op == multiply_number) return a * b;
  if constexpr (Op == divide_number) return from_number(as_number(a) / as_number(b));
  if constexpr (Op == modulo_number) return from_number(as_number(a) % as_number(b));
  if constexpr (Op == power_number) {
    return from_number(
        double_to_number(std::pow(static_cast<double>(as_number(a)), static_cast<double>(as_number(b)))));
  }
  if constexpr (Op == negate_number) return word{0} - a;
  if constexpr (Op == divide_unsigned) return a / b;
  if constexpr (Op == modulo_unsigned) return a % b;
  if constexpr (Op == power_unsigned)
    return double_to_unsigned(std::pow(static_cast<double>(a), static_cast<double>(b)));
  if constexpr (Op == add_float) return from_float(as_float(a) + as_float(b));
  if constexpr (Op == subtract_float) return from_float(as_float(a) - as_float(b));
  if constexpr (Op == multiply_float) return from_float(as_float(a) * as_float(b));
  if constexpr (Op == divide_float) return from_float(as_float(a) / as_float(b));
  if constexpr (Op == power_float) return from_float(std::pow(as_float(a), as_float(b)));
  if constexpr (Op == negate_float) return from_float(-as_float(a));
  if constexpr (Op == bit_and) return a & b;
  if constexpr (Op == bit_or) return a | b;
  if constexpr (Op == bit_xor) return a ^ b;
  if constexpr (Op == bit_not) return ~a;
  if constexpr (Op == shift_left) return a << (b & shift_mask);
  if constexpr (Op == shift_right_number) return from_number(as_number(a) >> (b & shift_mask));
  if constexpr (Op == shift_right_unsigned) return a >> (b & shift_mask);
  if constexpr (Op == logical_and) return static_cast<word>(a != 0 && b != 0);
  if constexpr (Op == logical_or) return static_cast<word>(a != 0 || b != 0);
  if constexpr (Op == logical_xor) return static_cast<word>((a != 0) != (b != 0));
  if constexpr (Op == logical_not) return static_cast<word>(a == 0);
  if constexpr (Op == min_number) return as_number(a) < as_number(b) ? a : b;
  if constexpr (Op == max_number) return as_number(a) > as_number(b) ? a : b;
  if constexpr (Op == min_unsigned) return a < b ? a : b;
  if constexpr (Op == max_unsigned) return a > b ? a : b;
  if constexpr (Op == min_float) return as_float(b) < as_float(a) ? b : a;
  if constexpr (Op == max_float) return as_float(a) < as_float(b) ? b : a;
  if constexpr (Op == number_to_float) return from_float(static_cast<float>(as_number(a)));
  if constexpr (Op == unsigned_to_float) return from_float(static_cast<float>(a));
  if constexpr (Op == float_to_number) return from_number(double_to_number(static_cast<double>(as_float(a))));
  if constexpr (Op == float_to_unsigned) return double_to_unsigned(static_cast<double>(as_float(a)));
}

template <comparison_op Op>
[[nodiscard]] GPULOG_HOST_DEVICE inline bool holds(word a, word b) {
  using enum comparison_op;
  if constexpr (Op == equal) return a == b;
  if constexpr (Op == not_equal) return a != b;
  if constexpr (Op == less_number) return as_number(a) < as_number(b);
  if constexpr (Op == less_equal_number) return as_number(a) <= as_number(b);
  if constexpr (Op == greater_number) return as_number(a) > as_number(b);
  if constexpr (Op == greater_equal_number) return as_number(a) >= as_number(b);
  if constexpr (Op == less_unsigned) return a < b;
  if constexpr (Op == less_equal_unsigned) return a <= b;
  if constexpr (Op == greater_unsigned) return a > b;
  if constexpr (Op == greater_equal_unsigned) return a >= b;
  if constexpr (Op == equal_float) return as_float(a) == as_float(b);
  if constexpr (Op == not_equal_float) return as_float(a) != as_float(b);
  if constexpr (Op == less_float) return as_float(a) < as_float(b);
  if constexpr (Op == less_equal_float) return as_float(a) <= as_float(b);
  if constexpr (Op == greater_float) return as_float(a) > as_float(b);
  if constexpr (Op == greater_equal_float) return as_float(a) >= as_float(b);
}

}  // namespace gpulog::kernels
