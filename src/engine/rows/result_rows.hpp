#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "engine/evaluations.hpp"
#include "engine/run_context.hpp"

namespace gpulog::detail {

/// The rows of a relation after an evaluation. Rows without columns (pairs of an equivalence relation, rows on a
/// device) are read piece by piece.
struct result_rows {
  std::uint64_t rows = 0;
  std::vector<const word*> columns;  ///< empty if `read` copies the rows
  /// Copies rows [first, first + n) into one array per column, each row once and roughly in ascending order; or empty.
  std::function<void(std::uint64_t first, std::uint64_t n, word* const* columns)> read;
  std::unique_ptr<exec::row_stream> stream;
};

/// @throws memory_limit_error
[[nodiscard]] result_rows result_rows_of(std::uint32_t relation, const run_context& run, const evaluations& results);

}  // namespace gpulog::detail
