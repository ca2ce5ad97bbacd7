#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "engine/evaluation.hpp"
#include "engine/rows/staged_rows.hpp"

/// What an evaluation changes in a relation (engine::changes, --changes).
namespace gpulog::detail {

/// The rows of a relation before the last evaluation.
struct earlier_rows {
  std::shared_ptr<evaluation> home;  ///< nullptr: no rows
  std::uint64_t rows = 0;            ///< the first rows of `home`
  std::optional<staged_rows> copy;   ///< the rows, if `home` may replace or move its rows
};

struct row_changes {
  staged_rows added, removed;
};

}  // namespace gpulog::detail
