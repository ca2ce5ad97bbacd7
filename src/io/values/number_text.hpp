#pragma once

#include <cstdint>
#include <string_view>

/// Numbers to and from the text of fact files. Integers are templates of their width; words of 32 and 64 bits exist.
namespace gpulog::io {

/// The digits from `at` on, as far as they go; the text must end with something that is no digit. More than 19 digits
/// give a wrong magnitude, which the caller sees by their count.
inline const char* scan_digits(const char* at, std::uint64_t& magnitude) {
  std::uint64_t sum = 0;
  for (unsigned digit; (digit = static_cast<unsigned char>(*at) - unsigned{'0'}) <= 9; ++at) sum = sum * 10 + digit;
  magnitude = sum;
  return at;
}

/// Base 10; blanks before it and a plus sign are allowed. False: the text is no number, or none of this width.
template <class Signed>
[[nodiscard]] bool parse_number(std::string_view text, Signed& value);

/// As parse_number, without a minus sign; also 0x and 0b with digits of that base.
template <class Unsigned>
[[nodiscard]] bool parse_unsigned(std::string_view text, Unsigned& value);

/// As strtof and strtod read it: exponents, inf, nan, hexadecimal. False: no such text, or too large.
template <class Float>
[[nodiscard]] bool parse_floating(std::string_view text, Float& value);

/// Longest text that a print function writes, in bytes.
inline constexpr std::size_t longest_number = 40;

/// Writes the number and returns the end.
char* print_number(char* to, std::int32_t value);
char* print_number(char* to, std::int64_t value);
char* print_number(char* to, std::uint32_t value);
char* print_number(char* to, std::uint64_t value);
/// With as many digits as tell all values apart (0.1 becomes 0.100000001), and no zeros at the end.
char* print_number(char* to, float value);
char* print_number(char* to, double value);

}  // namespace gpulog::io
