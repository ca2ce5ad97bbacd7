#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <optional>

#include "plan/rules/normalized_rule.hpp"

namespace gpulog::plan {

inline double constant_of(wide_word literal, value_kind kind, word_size words) {
  const bool is_wide = words == word_size::bits64;
  const auto narrow = static_cast<word>(literal);
  if (kind == value_kind::floating)
    return is_wide ? std::bit_cast<double>(literal) : static_cast<double>(std::bit_cast<float>(narrow));
  if (kind == value_kind::unsigned_number) return is_wide ? static_cast<double>(literal) : static_cast<double>(narrow);
  return is_wide ? static_cast<double>(static_cast<std::int64_t>(literal))
                 : static_cast<double>(static_cast<std::int32_t>(narrow));
}

/// Returns the approximate number of values of a range; nothing if an argument is not a constant.
inline std::optional<double> constant_range_size(const generation& made, word_size words) {
  if (!std::all_of(made.arguments.begin(), made.arguments.end(),
                   [](const sema::expression& argument) { return argument.is_constant(); }))
    return std::nullopt;
  const auto value = [&](std::size_t number) { return constant_of(made.arguments[number].constant, made.kind, words); };
  const double distance = value(1) - value(0);
  const double step = made.arguments.size() > 2 ? value(2) : distance < 0 ? -1 : 1;
  if (step == 0) return distance != 0 ? 1 : 0;
  return std::max(0.0, std::ceil(distance / step));
}

}  // namespace gpulog::plan
