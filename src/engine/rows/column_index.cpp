#include "engine/rows/column_index.hpp"

#include <utility>

namespace gpulog::detail {

column_index::column_index(std::vector<const word*> keys, std::uint64_t rows, backend::memory_resource& memory)
    : keys_(std::move(keys)), first_(memory, rows), next_(memory, rows) {
  // Descending, so that each chain is ascending.
  for (std::uint64_t row = rows; row-- > 0;) {
    storage::key_hash hash;
    for (const word* const column : keys_) hash.add(column[row]);
    std::uint64_t& slot = first_[storage::scale(hash.value(), rows)];
    next_[row] = slot;
    slot = row + 1;
  }
}

}  // namespace gpulog::detail
