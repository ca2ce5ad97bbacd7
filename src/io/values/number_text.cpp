#include "io/values/number_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <string>

namespace gpulog::io {
namespace {

bool is_blank(char character) { return character == ' ' || (character >= '\t' && character <= '\r'); }

std::string_view without_leading_blanks(std::string_view text) {
  while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
  return text;
}

/// Parses the whole text, which has no sign.
template <class Integer>
bool parse_digits(std::string_view text, int base, Integer& value) {
  const char* end = text.data() + text.size();
  const auto [stop, problem] = std::from_chars(text.data(), end, value, base);
  return problem == std::errc() && stop == end;
}

bool starts_with_sign(std::string_view text) { return !text.empty() && (text.front() == '-' || text.front() == '+'); }

float string_to_floating(const char* text, char** end, float) { return std::strtof(text, end); }
double string_to_floating(const char* text, char** end, double) { return std::strtod(text, end); }

/// All two-digit texts, "00" to "99".
constexpr std::array<char, 200> digit_pairs = [] {
  std::array<char, 200> pairs{};
  for (std::size_t i = 0; i < 100; ++i) {
    pairs[2 * i] = static_cast<char>('0' + i / 10);
    pairs[2 * i + 1] = static_cast<char>('0' + i % 10);
  }
  return pairs;
}();

constexpr std::array<std::uint64_t, 20> powers_of_ten = [] {
  std::array<std::uint64_t, 20> powers{};
  std::uint64_t power = 1;
  for (std::uint64_t& each : powers) {
    each = power;
    power *= 10;
  }
  return powers;
}();

template <class Unsigned>
std::size_t count_digits(Unsigned value) {
  // 1233 / 4096 is slightly more than log10(2).
  const auto estimate = (static_cast<std::size_t>(std::bit_width(static_cast<Unsigned>(value | 1))) * 1233) >> 12;
  return estimate + (value >= powers_of_ten[estimate] ? 1 : 0);
}

template <class Unsigned>
char* print_unsigned(char* to, Unsigned value) {
  char* const end = to + std::max<std::size_t>(count_digits(value), 1);
  char* at = end;
  while (value >= 100) {
    at -= 2;
    std::memcpy(at, digit_pairs.data() + 2 * (value % 100), 2);
    value /= 100;
  }
  if (value >= 10) {
    std::memcpy(to, digit_pairs.data() + 2 * value, 2);
  } else {
    *to = static_cast<char>('0' + value);
  }
  return end;
}

template <class Signed, class Unsigned>
char* print_signed(char* to, Signed value) {
  auto magnitude = static_cast<Unsigned>(value);
  if (value < 0) {
    *to++ = '-';
    magnitude = static_cast<Unsigned>(0 - magnitude);
  }
  return print_unsigned(to, magnitude);
}

}  // namespace

template <class Signed>
bool parse_number(std::string_view text, Signed& value) {
  text = without_leading_blanks(text);
  if (!text.empty() && text.front() == '+') {
    text.remove_prefix(1);
    if (starts_with_sign(text)) return false;
  }
  return parse_digits(text, 10, value);
}

template <class Unsigned>
bool parse_unsigned(std::string_view text, Unsigned& value) {
  if (text.starts_with("0x")) return parse_digits(text.substr(2), 16, value);
  if (text.starts_with("0b")) return parse_digits(text.substr(2), 2, value);
  text = without_leading_blanks(text);
  if (!text.empty() && text.front() == '+') text.remove_prefix(1);
  return parse_digits(text, 10, value);
}

template <class Float>
bool parse_floating(std::string_view text, Float& value) {
  const char* end = text.data() + text.size();
  const auto [stop, problem] = std::from_chars(text.data(), end, value);
  if (problem == std::errc() && stop == end) return true;
  // The slow path: blanks, a plus sign, hexadecimal, and values at the ends of the range. The program never sets a
  // locale.
  const std::string terminated(text);
  char* read_end = nullptr;
  value = string_to_floating(terminated.c_str(), &read_end, Float{});
  if (terminated.empty() || read_end != terminated.c_str() + terminated.size()) return false;
  return !std::isinf(value) || text.find_first_of("nN") != std::string_view::npos;
}

template bool parse_number(std::string_view, std::int32_t&);
template bool parse_number(std::string_view, std::int64_t&);
template bool parse_unsigned(std::string_view, std::uint32_t&);
template bool parse_unsigned(std::string_view, std::uint64_t&);
template bool parse_floating(std::string_view, float&);
template bool parse_floating(std::string_view, double&);

char* print_number(char* to, std::int32_t value) { return print_signed<std::int32_t, std::uint32_t>(to, value); }
char* print_number(char* to, std::int64_t value) { return print_signed<std::int64_t, std::uint64_t>(to, value); }
char* print_number(char* to, std::uint32_t value) { return print_unsigned(to, value); }
char* print_number(char* to, std::uint64_t value) { return print_unsigned(to, value); }

char* print_number(char* to, float value) {
  // Small whole numbers are frequent and need no conversion of fractions.
  if (value == std::trunc(value) && std::fabs(value) < 1e7F && (value != 0 || !std::signbit(value))) {
    return print_number(to, static_cast<std::int32_t>(value));
  }
  return fmt::format_to(to, "{:.9g}", value);
}

char* print_number(char* to, double value) { return fmt::format_to(to, "{:.17g}", value); }

}  // namespace gpulog::io
