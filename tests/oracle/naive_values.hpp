#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <stdexcept>
#include <string>

#include "oracle/naive_evaluator.hpp"

/// Words as numbers and numbers in texts for the naive evaluator, written independently of the engine.
namespace gpulog::oracle {

/// Converts the program's words to numbers and back, in either size.
class word_format {
 public:
  explicit word_format(word_size words) : is_wide_(words == word_size::bits64) {}

  [[nodiscard]] unsigned bits() const { return is_wide_ ? 64 : 32; }
  [[nodiscard]] wide_word cut(wide_word w) const { return is_wide_ ? w : w & 0xffffffff; }
  [[nodiscard]] wide_word from_signed(std::int64_t value) const { return cut(static_cast<wide_word>(value)); }
  [[nodiscard]] std::int64_t to_signed(wide_word w) const {
    return is_wide_ ? static_cast<std::int64_t>(w) : static_cast<std::int32_t>(w);
  }
  [[nodiscard]] std::int64_t smallest() const {
    return is_wide_ ? std::numeric_limits<std::int64_t>::min() : std::numeric_limits<std::int32_t>::min();
  }
  [[nodiscard]] std::int64_t largest() const { return -(smallest() + 1); }
  [[nodiscard]] double to_float(wide_word w) const {
    return is_wide_ ? std::bit_cast<double>(w) : double{std::bit_cast<float>(static_cast<std::uint32_t>(w))};
  }
  /// Rounds to the program's floats.
  [[nodiscard]] wide_word from_float(double value) const {
    if (is_wide_) return std::bit_cast<wide_word>(value);
    return std::bit_cast<std::uint32_t>(static_cast<float>(value));
  }
  [[nodiscard]] double power(double base, double exponent) const {
    if (is_wide_) return std::pow(base, exponent);
    return double{std::pow(static_cast<float>(base), static_cast<float>(exponent))};
  }

  /// Converts like x86: the lowest number for NaN and values out of range.
  [[nodiscard]] wide_word number_from_real(double value) const {
    const double end = is_wide_ ? 9223372036854775808.0 : 2147483648.0;
    const bool is_below = is_wide_ ? value < -end : value <= -2147483649.0;
    if (std::isnan(value) || value >= end || is_below) return from_signed(smallest());
    return from_signed(static_cast<std::int64_t>(value));
  }
  /// Converts like x86: 32 bits through 64, 64 bits in two halves.
  [[nodiscard]] wide_word unsigned_from_real(double value) const {
    constexpr double end = 9223372036854775808.0;
    const bool is_signed = value >= -end && value < end;
    if (is_signed) return from_signed(static_cast<std::int64_t>(value));
    if (!is_wide_) return 0;
    if (value >= end && value < 2 * end) return static_cast<wide_word>(value);
    return value >= end ? 0 : wide_word{1} << 63;
  }

 private:
  bool is_wide_;
};

[[noreturn]] inline void fail_conversion(const std::string& functor, const std::string& text) {
  throw evaluation_error("wrong string provided by `" + functor + "(\"" + text + "\")`");
}

inline std::int64_t integer_from_text(const std::string& functor, const std::string& text, std::int64_t lowest,
                                      std::int64_t highest) {
  try {
    std::string digits = text;
    const bool negative = !digits.empty() && digits[0] == '-';
    if (negative) digits.erase(0, 1);
    int base = 10;
    if (digits.starts_with("0b") || digits.starts_with("0x")) {
      base = digits[1] == 'b' ? 2 : 16;
      digits.erase(0, 2);
    }
    if (digits.empty() || digits[0] == '-' || digits[0] == '+') fail_conversion(functor, text);
    std::size_t used = 0;
    const std::int64_t magnitude = std::stoll(digits, &used, base);
    const std::int64_t value = negative ? -magnitude : magnitude;
    if (used != digits.size() || value < lowest || value > highest) fail_conversion(functor, text);
    return value;
  } catch (const std::logic_error&) {
    fail_conversion(functor, text);
  }
}

inline std::uint64_t natural_from_text(const std::string& functor, const std::string& text, std::uint64_t highest) {
  try {
    const bool has_base = text.starts_with("0b") || text.starts_with("0x");
    const std::string digits = has_base ? text.substr(2) : text;
    if (digits.empty() || digits[0] == '-' || digits[0] == '+') fail_conversion(functor, text);
    std::size_t used = 0;
    const std::uint64_t value = std::stoull(digits, &used, !has_base ? 10 : text[1] == 'b' ? 2 : 16);
    if (used != digits.size() || value > highest) fail_conversion(functor, text);
    return value;
  } catch (const std::logic_error&) {
    fail_conversion(functor, text);
  }
}

}  // namespace gpulog::oracle
