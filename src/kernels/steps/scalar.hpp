#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

#include "backend/gpu/host_device.hpp"
#include "support/ids.hpp"
#include "support/operations.hpp"

/// Operations on words with Soufflé's semantics: two's complement, masked shifts, and x86's results for conversions out
/// of range. Identical on every backend, so the code avoids undefined behaviour.
namespace gpulog::kernels {

/// The signed number and float types with the size of a word: 32 or 64 bits.
template <class Word>
struct types_of_word;
template <>
struct types_of_word<std::uint32_t> {
  using number = std::int32_t;
  using floating = float;
};
template <>
struct types_of_word<std::uint64_t> {
  using number = std::int64_t;
  using floating = double;
};
template <class Word>
using number_of = typename types_of_word<Word>::number;
template <class Word>
using float_of = typename types_of_word<Word>::floating;

template <class Word>
[[nodiscard]] GPULOG_HOST_DEVICE inline number_of<Word> as_number(Word w) {
  return static_cast<number_of<Word>>(w);
}
template <class Word>
[[nodiscard]] GPULOG_HOST_DEVICE inline float_of<Word> as_float(Word w) {
  return std::bit_cast<float_of<Word>>(w);
}
[[nodiscard]] GPULOG_HOST_DEVICE inline std::uint32_t from_number(std::int32_t n) {
  return static_cast<std::uint32_t>(n);
}
[[nodiscard]] GPULOG_HOST_DEVICE inline std::uint64_t from_number(std::int64_t n) {
  return static_cast<std::uint64_t>(n);
}
/// Stores -0.0 as 0.0, so that equal floats are equal words (except NaN).
[[nodiscard]] GPULOG_HOST_DEVICE inline std::uint32_t from_float(float f) {
  return std::bit_cast<std::uint32_t>(f == 0.0F ? 0.0F : f);
}
[[nodiscard]] GPULOG_HOST_DEVICE inline std::uint64_t from_float(double f) {
  return std::bit_cast<std::uint64_t>(f == 0.0 ? 0.0 : f);
}

/// Returns the smallest number for NaN and values out of range, like x86's conversion.
template <class Word>
[[nodiscard]] GPULOG_HOST_DEVICE inline number_of<Word> double_to_number(double d) {
  using number = number_of<Word>;
  constexpr double end = -static_cast<double>(std::numeric_limits<number>::min());
  // In 32 bits, doubles between -2^31 - 1 and -2^31 truncate to -2^31, which fits.
  constexpr double below = sizeof(Word) == 4 ? -end - 1.0 : -end;
  const bool fits = sizeof(Word) == 4 ? d > below && d < end : d >= below && d < end;
  return fits ? static_cast<number>(d) : std::numeric_limits<number>::min();
}
/// As x86-64 compilers convert. 32 bits: through a 64-bit number, keeping the low word. 64 bits: the same below 2^63;
/// from 2^63 on, subtracts 2^63 before the conversion and adds it afterwards.
template <class Word>
[[nodiscard]] GPULOG_HOST_DEVICE inline Word double_to_unsigned(double d) {
  constexpr double two_to_63 = 9223372036854775808.0;
  if constexpr (sizeof(Word) == 4) {
    if (!(d >= -two_to_63 && d < two_to_63)) return 0;
    return static_cast<Word>(static_cast<std::int64_t>(d));
  } else {
    constexpr Word sign = Word{1} << 63;
    if (!(d >= two_to_63)) return static_cast<Word>(double_to_number<Word>(d));
    return static_cast<Word>(double_to_number<Word>(d - two_to_63)) ^ sign;
  }
}

template <class Word>
constexpr unsigned shift_mask = sizeof(Word) * 8 - 1;

/// Returns whether a division by this divisor traps.
template <class Word>
[[nodiscard]] GPULOG_HOST_DEVICE inline bool divides_badly(scalar_op op, Word left, Word right) {
  if (right == 0) return true;
  const bool is_signed = op == scalar_op::divide_number || op == scalar_op::modulo_number;
  return is_signed && right == ~Word{0} && as_number(left) == std::numeric_limits<number_of<Word>>::min();
}
[[nodiscard]] GPULOG_HOST_DEVICE inline bool may_fault(scalar_op op) {
  return op == scalar_op::divide_number || op == scalar_op::modulo_number || op == scalar_op::divide_unsigned ||
         op == scalar_op::modulo_unsigned;
}

/// Operations on words that need no tables. The caller has tested divisors.
template <scalar_op Op, class Word>
[[nodiscard]] GPULOG_HOST_DEVICE inline Word apply(Word a, Word b) {
  using enum scalar_op;
  if constexpr (Op == copy) return a;
  if constexpr (Op == add_number) return a + b;
  if constexpr (Op == subtract_number) return a - b;
  if constexpr (Op == multiply_number) return a * b;
  if constexpr (Op == divide_number) return from_number(as_number(a) / as_number(b));
  if constexpr (Op == modulo_number) return from_number(as_number(a) % as_number(b));
  if constexpr (Op == power_number) {
    return from_number(
        double_to_number<Word>(std::pow(static_cast<double>(as_number(a)), static_cast<double>(as_number(b)))));
  }
  if constexpr (Op == negate_number) return Word{0} - a;
  if constexpr (Op == divide_unsigned) return a / b;
  if constexpr (Op == modulo_unsigned) return a % b;
  if constexpr (Op == power_unsigned)
    return double_to_unsigned<Word>(std::pow(static_cast<double>(a), static_cast<double>(b)));
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
  if constexpr (Op == shift_left) return a << (b & shift_mask<Word>);
  if constexpr (Op == shift_right_number) return from_number(as_number(a) >> (b & shift_mask<Word>));
  if constexpr (Op == shift_right_unsigned) return a >> (b & shift_mask<Word>);
  if constexpr (Op == logical_and) return static_cast<Word>(a != 0 && b != 0);
  if constexpr (Op == logical_or) return static_cast<Word>(a != 0 || b != 0);
  if constexpr (Op == logical_xor) return static_cast<Word>((a != 0) != (b != 0));
  if constexpr (Op == logical_not) return static_cast<Word>(a == 0);
  if constexpr (Op == min_number) return as_number(a) < as_number(b) ? a : b;
  if constexpr (Op == max_number) return as_number(a) > as_number(b) ? a : b;
  if constexpr (Op == min_unsigned) return a < b ? a : b;
  if constexpr (Op == max_unsigned) return a > b ? a : b;
  if constexpr (Op == min_float) return as_float(b) < as_float(a) ? b : a;
  if constexpr (Op == max_float) return as_float(a) < as_float(b) ? b : a;
  if constexpr (Op == number_to_float) return from_float(static_cast<float_of<Word>>(as_number(a)));
  if constexpr (Op == unsigned_to_float) return from_float(static_cast<float_of<Word>>(a));
  if constexpr (Op == float_to_number) return from_number(double_to_number<Word>(static_cast<double>(as_float(a))));
  if constexpr (Op == float_to_unsigned) return double_to_unsigned<Word>(static_cast<double>(as_float(a)));
}

template <comparison_op Op, class Word>
[[nodiscard]] GPULOG_HOST_DEVICE inline bool holds(Word a, Word b) {
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
