#pragma once

#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string_view>

#include "engine/rows/arrow_arrays.hpp"

/// Reads decimals and integers of 128 bits from Arrow arrays, such as DuckDB's HUGEINT.
namespace gpulog::detail {

/// A whole number of 128 bits in two's complement.
struct decimal {
  std::int64_t low = 0;  ///< the bits of the lower half
  std::int64_t high = 0;

  [[nodiscard]] bool is_signed_word() const { return high == (low < 0 ? -1 : 0); }
  [[nodiscard]] bool is_unsigned_word() const { return high == 0; }
  /// Returns the number divided by 10^scale, rounded.
  [[nodiscard]] double to_double(int scale) const {
    constexpr double half = 18446744073709551616.0;  // 2^64
    const double whole = is_signed_word()
                             ? static_cast<double>(low)
                             : static_cast<double>(high) * half + static_cast<double>(static_cast<std::uint64_t>(low));
    return scale > 0 ? whole / std::pow(10.0, scale) : whole * std::pow(10.0, -scale);
  }
};

struct decimal_layout {
  int scale = 0;  ///< digits after the point
  int bytes = 16;
};

/// Parses "d:precision,scale" and "d:precision,scale,bits", and polars' format of integers of 128 bits.
inline std::optional<decimal_layout> decimal_layout_of(std::string_view format) {
  if (format == "_pli128") return decimal_layout{};
  if (!format.starts_with("d:")) return std::nullopt;
  int parts[3] = {0, 0, 128};
  const char* at = format.data() + 2;
  const char* const end = format.data() + format.size();
  for (int& part : parts) {
    const auto read = std::from_chars(at, end, part);
    if (read.ec != std::errc()) return std::nullopt;
    if (read.ptr == end) break;
    at = read.ptr + 1;
  }
  if (parts[2] != 32 && parts[2] != 64 && parts[2] != 128) return std::nullopt;
  return decimal_layout{parts[1], parts[2] / 8};
}

/// @param row relative to the start of the range
inline decimal decimal_at(const array_range& range, const decimal_layout& layout, std::uint64_t row) {
  const auto place = (static_cast<std::uint64_t>(range.first) + row) * static_cast<std::uint64_t>(layout.bytes);
  const char* const bytes = buffer<char>(range.array, 1) + place;
  std::int64_t halves[2] = {};
  if (layout.bytes == 4) {
    std::int32_t small = 0;
    std::memcpy(&small, bytes, sizeof small);
    halves[0] = small;
  } else {
    std::memcpy(halves, bytes, static_cast<std::size_t>(layout.bytes));
  }
  if (layout.bytes < 16) halves[1] = halves[0] < 0 ? -1 : 0;
  return {halves[0], halves[1]};
}

}  // namespace gpulog::detail
