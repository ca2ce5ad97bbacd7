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

/// The tuples that a relation gained and lost.
struct row_changes {
  staged_rows added, removed;
};

/// Returns the rows that only one side has, in their order. Fast for rows in almost the same order.
/// @param are_distinct whether no side has equal rows
/// @throws backend::memory_exceeded
[[nodiscard]] row_changes difference_of(const row_view& before, const row_view& now, bool are_distinct,
                                        backend::memory_resource& memory);

/// Returns the rows of all blocks in one block. @throws backend::memory_exceeded
[[nodiscard]] staged_rows joined(std::vector<staged_rows> blocks, std::size_t columns,
                                 backend::memory_resource& memory);

}  // namespace gpulog::detail
