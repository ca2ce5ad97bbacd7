#pragma once

#include <cstdint>

#include "backend/array.hpp"
#include "support/ids.hpp"

namespace gpulog::storage {

/// For a relation of which one row of a key stays, the one that is best in the only other column: as after a
/// subsumption by `<` or `>`. The row set holds keys then. A better tuple takes the place of a row in the set; the row
/// that was there leaves the relation when the phase ends. Further ones write over what the phase has not shown to
/// anybody yet.
struct best_rows {
  best_rows(backend::memory_resource& resource, std::uint32_t column_of_values, word order_of_values)
      : column(column_of_values), order(order_of_values), replaced(resource), erased(resource) {}

  [[nodiscard]] bool better(word value, word than) const { return (value ^ order) < (than ^ order); }

  /// Values that are words without sign, smaller ones better; combined by exclusive or.
  static constexpr word larger_is_better = 0xffffffff;
  static constexpr word with_sign = 0x80000000;

  std::uint32_t column;
  word order;
  /// By row that was appended: 1 + the row whose place it took; 0: none.
  backend::array<std::uint64_t> replaced;
  /// By row: it has left the relation, but not yet its columns.
  backend::array<std::uint8_t> erased;
};

}  // namespace gpulog::storage
