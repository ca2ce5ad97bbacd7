#include "engine/proofs/column_index.hpp"

namespace gpulog::detail {

column_index::column_index(std::vector<const word*> columns, std::vector<std::uint32_t> keys, std::uint64_t rows,
                           backend::memory_resource& memory)
    : first_(memory, rows), next_(memory, rows) {
  for (const std::uint32_t key : keys) keys_.push_back(columns[key]);
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
