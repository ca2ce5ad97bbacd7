#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "backend/array.hpp"
#include "support/ids.hpp"

namespace gpulog::detail {

/// Rows of a relation between a file (or insert) and the executor, which drops duplicates.
struct staged_rows {
  std::vector<backend::array<word>> columns;  ///< one per attribute
  std::uint64_t rows = 0;                     ///< for a nullary relation: number of times that its tuple was given

  [[nodiscard]] std::vector<const word*> pointers(std::uint64_t first_row = 0) const {
    std::vector<const word*> pointers;
    for (const auto& column : columns) pointers.push_back(column.data() + first_row);
    return pointers;
  }
};

/// By relation: blocks in the given order.
using staged_facts = std::vector<std::vector<staged_rows>>;

/// Rows erased from a relation.
struct erased_rows {
  /// By erased row, the number of blocks at the time of erasure: earlier blocks lose the row, later blocks keep it.
  std::map<std::vector<word>, std::size_t> blocks_before;
  std::size_t latest = 0;  ///< number of blocks at the last erasure

  [[nodiscard]] bool empty() const { return blocks_before.empty(); }
};

/// Removes erased rows from the blocks of a relation.
/// @param before number of leading blocks that were not counted
void drop_erased(std::span<staged_rows> blocks, const erased_rows& erased, std::size_t before = 0);

/// @throws backend::memory_exceeded without adding anything
void append_row(staged_rows& block, std::span<const word> row, backend::memory_resource& memory);

/// @throws backend::memory_exceeded
[[nodiscard]] staged_rows copy_of(const staged_rows& block, backend::memory_resource& memory);

}  // namespace gpulog::detail
