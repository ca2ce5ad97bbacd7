#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "backend/array.hpp"
#include "support/ids.hpp"

namespace gpulog::detail {

/// Rows of a relation between their file (or insert) and the executor, which drops repeated ones.
struct staged_rows {
  std::vector<backend::array<word>> columns;  ///< one for each attribute
  std::uint64_t rows = 0;                     ///< of a nullary relation: how often its tuple was given
};

/// By relation, blocks in the order they were given.
using staged_facts = std::vector<std::vector<staged_rows>>;

/// Rows that were taken away from a relation.
struct erased_rows {
  /// How many blocks there were then: these lose the row, those that came later do not.
  std::map<std::vector<word>, std::size_t> blocks_before;
  std::size_t latest = 0;  ///< blocks when the last row was taken away

  [[nodiscard]] bool empty() const { return blocks_before.empty(); }
};

/// Takes rows out of the blocks of a relation. @param before blocks in front that were not counted
void drop_erased(std::span<staged_rows> blocks, const erased_rows& erased, std::size_t before = 0);

/// @throws backend::memory_exceeded, and nothing is added
void append_row(staged_rows& block, std::span<const word> row, backend::memory_resource& memory);

/// @throws backend::memory_exceeded
[[nodiscard]] staged_rows copy_of(const staged_rows& block, backend::memory_resource& memory);

}  // namespace gpulog::detail
