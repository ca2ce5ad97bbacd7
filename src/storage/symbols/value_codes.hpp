#pragma once

#include "backend/gpu/host_device.hpp"
#include "support/ids.hpp"

/// The codes of 64-bit values (wide_values.hpp describes the layout), for the host and for kernels.
namespace gpulog::storage {

/// The code that belongs to no value.
inline constexpr word no_code = 0x80000000;
/// Extracts the number in the table from a code 10....
inline constexpr word code_number_mask = 0x3fffffff;

namespace detail {

inline constexpr word prefix_of_upper = 6;     // 110
inline constexpr word prefix_of_negative = 7;  // 111
inline constexpr unsigned upper_shift = 35;

}  // namespace detail

/// Returns whether a value has a code that needs no table.
/// @param code receives the code
[[nodiscard]] GPULOG_HOST_DEVICE inline bool has_short_code(wide_word value, word& code) {
  constexpr wide_word first_negative = ~wide_word{0} << 29;
  code = static_cast<word>(value);
  if (value < no_code || value >= first_negative) return true;
  code = detail::prefix_of_upper << 29 | static_cast<word>(value >> detail::upper_shift);
  return value << (64 - detail::upper_shift) == 0;
}

/// Returns the value of a code.
/// @param numbered numbered(number) returns the value with this number in the table
template <class Numbered>
[[nodiscard]] GPULOG_HOST_DEVICE inline wide_word value_of_code(word code, const Numbered& numbered) {
  if (code < no_code) return code;
  switch (code >> 29) {
    case detail::prefix_of_negative:
      return wide_word{code} | 0xffffffff00000000;
    case detail::prefix_of_upper:
      return wide_word{code} << detail::upper_shift;
    default:
      return numbered(code & code_number_mask);
  }
}

}  // namespace gpulog::storage
