#include "sema/numeric_literal.hpp"

#include <bit>
#include <charconv>
#include <cmath>
#include <limits>
#include <string_view>

namespace gpulog::sema {

namespace {

struct integer {
  bool negative = false;
  std::uint64_t magnitude = 0;
};

std::optional<integer> parse_integer(std::string_view text) {
  integer result;
  if (text.starts_with('-')) {
    result.negative = true;
    text.remove_prefix(1);
  }
  int base = 10;
  if (text.starts_with("0x") || text.starts_with("0X")) base = 16;
  if (text.starts_with("0b") || text.starts_with("0B")) base = 2;
  if (base != 10) text.remove_prefix(2);
  const char* end = text.data() + text.size();
  const auto [position, error] = std::from_chars(text.data(), end, result.magnitude, base);
  if (error != std::errc() || position != end) return std::nullopt;
  return result;
}

template <class Float>
std::optional<Float> as_float(std::string_view text) {
  Float value = 0;
  if (const auto whole = parse_integer(text)) {
    value = static_cast<Float>(whole->magnitude);
    if (whole->negative) value = -value;
  } else {
    const char* end = text.data() + text.size();
    const auto [position, error] = std::from_chars(text.data(), end, value);
    if (error != std::errc() || position != end || !std::isfinite(value)) return std::nullopt;
  }
  // Stored floats have a single zero (from_float()), and -0.0 in a rule must match it.
  return value == 0 ? 0 : value;
}

std::optional<wide_word> float_value(std::string_view text, word_size words) {
  if (words == word_size::bits64) {
    const auto value = as_float<double>(text);
    return value ? std::optional(std::bit_cast<std::uint64_t>(*value)) : std::nullopt;
  }
  const auto value = as_float<float>(text);
  return value ? std::optional<wide_word>(std::bit_cast<std::uint32_t>(*value)) : std::nullopt;
}

}  // namespace

std::optional<wide_word> literal_value(const syntax::numeric_constant& constant, value_kind kind, word_size words) {
  using syntax::numeric_form;
  const bool is_wide = words == word_size::bits64;
  if (kind == value_kind::floating) {
    return constant.form == numeric_form::unsigned_number ? std::nullopt : float_value(constant.text, words);
  }
  if (constant.form == numeric_form::floating) return std::nullopt;
  const auto value = parse_integer(constant.text);
  if (!value) return std::nullopt;
  if (kind == value_kind::unsigned_number) {
    if (value->negative && value->magnitude != 0) return std::nullopt;
    return is_wide ? value->magnitude : static_cast<std::uint32_t>(value->magnitude);
  }
  if (kind != value_kind::number || constant.form == numeric_form::unsigned_number) return std::nullopt;
  const std::uint64_t largest =
      is_wide ? std::uint64_t{std::numeric_limits<std::int64_t>::max()} : std::numeric_limits<std::int32_t>::max();
  if (value->magnitude > (value->negative ? largest + 1 : largest)) return std::nullopt;
  const wide_word bits = value->negative ? 0 - value->magnitude : value->magnitude;
  return is_wide ? bits : static_cast<std::uint32_t>(bits);
}

bool wraps_around(const syntax::numeric_constant& constant, word_size words) {
  const auto value = literal_value(constant, value_kind::unsigned_number, word_size::bits64);
  return words == word_size::bits32 && value && *value > std::numeric_limits<std::uint32_t>::max();
}

std::vector<value_kind> literal_kinds(const syntax::numeric_constant& constant, word_size words) {
  std::vector<value_kind> kinds;
  for (value_kind kind : {value_kind::number, value_kind::unsigned_number, value_kind::floating}) {
    if (literal_value(constant, kind, words)) kinds.push_back(kind);
  }
  return kinds;
}

}  // namespace gpulog::sema
