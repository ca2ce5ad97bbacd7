#pragma once

#include <cstdint>
#include <string_view>

/// Conversions between numbers and the text of fact files. Integers are templates of their width, for words of 32 and
/// 64 bits.
namespace gpulog::io {

/// Parses the digits from `at` on; the text must end with a byte that is not a digit. More than 19 digits give a wrong
/// magnitude, which the caller detects by the number of digits.
inline const char* scan_digits(const char* at, std::uint64_t& magnitude) {
  std::uint64_t sum = 0;
  for (unsigned digit; (digit = static_cast<unsigned char>(*at) - unsigned{'0'}) <= 9; ++at) sum = sum * 10 + digit;
  magnitude = sum;
  return at;
}

/// Parses base 10; leading blanks and a plus sign are allowed. Returns false for texts that are not numbers of this
/// width.
template <class Signed>
[[nodiscard]] bool parse_number(std::string_view text, Signed& value);

/// Like parse_number, without a minus sign; also 0x and 0b with digits of that base.
template <class Unsigned>
[[nodiscard]] bool parse_unsigned(std::string_view text, Unsigned& value);

/// Parses the forms of strtof and strtod: exponents, inf, nan, hexadecimal. Returns false for other texts and for
/// overflow.
template <class Float>
[[nodiscard]] bool parse_floating(std::string_view text, Float& value);

/// Maximum bytes that a print function writes.
inline constexpr std::size_t longest_number = 40;

/// Writes a number and returns the end.
char* print_number(char* to, std::int32_t value);
char* print_number(char* to, std::int64_t value);
char* print_number(char* to, std::uint32_t value);
char* print_number(char* to, std::uint64_t value);
/// Prints enough digits to distinguish all values (0.1 becomes 0.100000001), without trailing zeros.
char* print_number(char* to, float value);
char* print_number(char* to, double value);

}  // namespace gpulog::io
