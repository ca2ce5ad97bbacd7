#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <optional>

#include "support/ids.hpp"
#include "support/value_types.hpp"

namespace gpulog::detail {

/// Returns the bits of a value as a word of the program; empty if the value does not fit the type or the width.
class bits_of_value {
 public:
  bits_of_value(value_kind kind, bool is_wide) : kind_(kind), is_wide_(is_wide) {}

  std::optional<wide_word> operator()(std::int32_t number) const { return (*this)(std::int64_t{number}); }
  std::optional<wide_word> operator()(std::uint32_t number) const { return (*this)(std::uint64_t{number}); }
  std::optional<wide_word> operator()(float number) const { return (*this)(double{number}); }
  std::optional<wide_word> operator()(std::int64_t number) const {
    if (kind_ != value_kind::number) return std::nullopt;
    if (is_wide_) return static_cast<wide_word>(number);
    if (number != static_cast<std::int32_t>(number)) return std::nullopt;
    return static_cast<std::uint32_t>(number);
  }
  std::optional<wide_word> operator()(std::uint64_t number) const {
    const bool fits = is_wide_ || number <= UINT32_MAX;
    return kind_ == value_kind::unsigned_number && fits ? std::optional(number) : std::nullopt;
  }
  /// Relations do not distinguish -0 and 0.
  std::optional<wide_word> operator()(double number) const {
    if (kind_ != value_kind::floating) return std::nullopt;
    if (is_wide_) return std::bit_cast<wide_word>(number + 0.0);
    const auto smaller = static_cast<float>(number);
    if (!std::isnan(number) && double{smaller} != number) return std::nullopt;
    return std::bit_cast<std::uint32_t>(smaller + 0.0F);
  }
  template <class Other>
  std::optional<wide_word> operator()(const Other&) const {
    return std::nullopt;
  }

 private:
  value_kind kind_;
  bool is_wide_;
};

}  // namespace gpulog::detail
