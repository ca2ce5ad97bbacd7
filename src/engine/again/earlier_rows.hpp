#pragma once

#include <memory>
#include <optional>

#include "engine/again/continued_evaluation.hpp"
#include "engine/evaluation.hpp"
#include "engine/rows/staged_rows.hpp"

/// What an evaluation changes in a relation (engine::changes, --changes).
namespace gpulog::detail {

/// The rows of a relation before the last evaluation.
struct earlier_rows {
  std::shared_ptr<evaluation> home;  ///< nullptr: no rows
  std::optional<staged_rows> copy;   ///< the rows, if `home` may replace or move its rows
  /// The evaluation that knows the changes, if it updated the relation and its rows do not move.
  std::shared_ptr<const continued_evaluation> continued;
};

}  // namespace gpulog::detail
