#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "backend/array.hpp"
#include "storage/sets/hash.hpp"
#include "support/ids.hpp"

namespace gpulog::detail {

/// Rows by their values in some columns: a hash table of chains. 16 bytes a row.
class column_index {
 public:
  /// @param columns of the relation; they stay as they are, and outlive this @param keys numbers of the columns
  /// @throws backend::memory_exceeded
  column_index(std::vector<const word*> columns, std::vector<std::uint32_t> keys, std::uint64_t rows,
               backend::memory_resource& memory);

  /// Calls visit(row), ascending, for rows with these values until it returns false. @return whether it never did
  template <class Visit>
  bool for_each(std::span<const word> key, const Visit& visit) const {
    if (first_.size() == 0) return true;
    storage::key_hash hash;
    for (const word value : key) hash.add(value);
    for (std::uint64_t next = first_[storage::scale(hash.value(), first_.size())]; next != 0; next = next_[next - 1]) {
      if (has_key(next - 1, key) && !visit(next - 1)) return false;
    }
    return true;
  }
  [[nodiscard]] bool contains(std::span<const word> key) const {
    return !for_each(key, [](std::uint64_t) { return false; });
  }

 private:
  [[nodiscard]] bool has_key(std::uint64_t row, std::span<const word> key) const {
    for (std::size_t k = 0; k < key.size(); ++k) {
      if (keys_[k][row] != key[k]) return false;
    }
    return true;
  }

  std::vector<const word*> keys_;
  backend::array<std::uint64_t> first_;  ///< by slot: row number + 1; 0: none
  backend::array<std::uint64_t> next_;   ///< by row: likewise
};

}  // namespace gpulog::detail
