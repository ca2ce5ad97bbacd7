#include "io/values/stored_numbers.hpp"

#include <bit>
#include <cmath>
#include <limits>

namespace gpulog::io {
namespace {

template <class Integer>
std::optional<word> whole_number(std::int64_t value) {
  if (value < std::int64_t{std::numeric_limits<Integer>::min()}) return std::nullopt;
  if (value > std::int64_t{std::numeric_limits<Integer>::max()}) return std::nullopt;
  return static_cast<word>(value);
}

}  // namespace

std::optional<word> integer_word(std::int64_t value, value_kind kind, storage::wide_values* wide) {
  if (wide != nullptr) {
    if (kind == value_kind::unsigned_number && value < 0) return std::nullopt;
    return wide->code(static_cast<wide_word>(value));
  }
  return kind == value_kind::number ? whole_number<std::int32_t>(value) : whole_number<std::uint32_t>(value);
}

std::optional<word> integer_word(std::uint64_t value, value_kind kind, storage::wide_values* wide) {
  constexpr auto most_signed = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
  if (value <= most_signed) return integer_word(static_cast<std::int64_t>(value), kind, wide);
  if (wide == nullptr || kind == value_kind::number) return std::nullopt;
  return wide->code(value);
}

std::optional<word> integer_word(double value, value_kind kind, storage::wide_values* wide) {
  constexpr double limit = 9223372036854775808.0;
  if (!(std::abs(value) < limit) || std::trunc(value) != value) return std::nullopt;
  return integer_word(static_cast<std::int64_t>(value), kind, wide);
}

std::optional<word> float_word(double value, storage::wide_values* wide) {
  if (wide != nullptr) return wide->code(std::bit_cast<wide_word>(value + 0.0));
  if (std::isfinite(value) && std::abs(value) > double{std::numeric_limits<float>::max()}) return std::nullopt;
  return std::bit_cast<word>(static_cast<float>(value) + 0.0F);
}

}  // namespace gpulog::io
