#pragma once

#include <optional>

#include "support/ids.hpp"
#include "support/operations.hpp"

/// What comparisons by order and the aggregates of the least and the greatest value have in common.
namespace gpulog {

/// A comparison by order of numbers, unsigned numbers or floats: which side is the smaller one.
struct ordering {
  value_kind kind = value_kind::number;
  bool is_less = true;  ///< the left side is the smaller one
  bool is_strict = true;
  friend bool operator==(const ordering&, const ordering&) = default;
};

/// Nothing for other comparisons, those of texts among them.
[[nodiscard]] std::optional<ordering> ordering_of(comparison_op op);
[[nodiscard]] comparison_op comparison_of(const ordering& order);

/// The value of several that an aggregate gives.
struct extreme {
  value_kind kind = value_kind::number;
  bool is_least = true;
};

/// Nothing for other aggregates.
[[nodiscard]] std::optional<extreme> extreme_of(fold_op op);
[[nodiscard]] fold_op fold_of(const extreme& value);

}  // namespace gpulog
