#pragma once

#include <cstdint>
#include <vector>

#include "backend/memory_resource.hpp"
#include "engine/rows/staged_rows.hpp"
#include "support/ids.hpp"

namespace gpulog::detail {

/// Rows of a relation, one array per column.
struct row_view {
  std::vector<const word*> columns;
  std::uint64_t rows = 0;
};

/// Returns the rows of `all` that are missing in `others`, in the order of `all`. Fast for differences in one range.
/// @throws backend::memory_exceeded
[[nodiscard]] staged_rows rows_only_in(const row_view& all, const row_view& others, backend::memory_resource& memory);

/// Returns the rows of all blocks in one block. @throws backend::memory_exceeded
[[nodiscard]] staged_rows joined(std::vector<staged_rows> blocks, std::size_t columns,
                                 backend::memory_resource& memory);

}  // namespace gpulog::detail
