#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "backend/array.hpp"
#include "storage/sets/hash.hpp"
#include "support/ids.hpp"

namespace gpulog::detail {

/// Finds rows by the values of some columns: a hash table with chains, 16 bytes per row.
class column_index {
 public:
  /// @param keys columns of the relation; must not change, and must outlive this object
  /// @throws backend::memory_exceeded
  column_index(std::vector<const word*> keys, std::uint64_t rows, backend::memory_resource& memory);

  /// Calls visit(row), in ascending order, for rows with the key until visit returns false.
  /// @return whether visit never returned false
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
  backend::array<std::uint64_t> first_;  ///< by slot: row number + 1; 0: empty
  backend::array<std::uint64_t> next_;   ///< by row: next row of the chain, in the same form
};

}  // namespace gpulog::detail
