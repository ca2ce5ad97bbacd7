#pragma once

#include <optional>

#include "support/ids.hpp"
#include "support/operations.hpp"

/// Order comparisons and min/max aggregates as values, so that both can be converted.
namespace gpulog {

/// An order comparison of numbers, unsigned numbers or floats: which side is smaller.
struct ordering {
  value_kind kind = value_kind::number;
  bool is_less = true;  ///< whether the left side is smaller
  bool is_strict = true;
  friend bool operator==(const ordering&, const ordering&) = default;
};

/// Returns nothing for any comparison that is not an order of numbers.
[[nodiscard]] std::optional<ordering> ordering_of(comparison_op op);
[[nodiscard]] comparison_op comparison_of(const ordering& order);

/// A min or max aggregate.
struct extreme {
  value_kind kind = value_kind::number;
  bool is_least = true;
};

/// Returns nothing for any aggregate except min and max.
[[nodiscard]] std::optional<extreme> extreme_of(fold_op op);
[[nodiscard]] fold_op fold_of(const extreme& value);

}  // namespace gpulog
