#pragma once

#include <cstdint>
#include <utility>

#include "backend/array.hpp"
#include "storage/factorized/row_groups.hpp"

namespace gpulog::storage {

/// A table of entries of 64 bits, by row and group of bits, initially zero. 16 neighbouring groups of a row are a
/// block, which has memory, in a store of blocks, once an entry is written: most rows have bits in few places.
class group_table {
 public:
  static constexpr std::uint64_t block_size = row_groups::words;

  group_table() = default;
  group_table(backend::memory_resource& resource, std::uint64_t rows, std::uint64_t groups)
      : blocks_of_row_(blocks_of(groups)), blocks_(resource, rows * blocks_of_row_) {}

  [[nodiscard]] static std::uint64_t blocks_of(std::uint64_t groups) { return (groups + block_size - 1) / block_size; }
  [[nodiscard]] std::uint64_t blocks_of_row() const { return blocks_of_row_; }
  /// Returns the number of blocks of all rows, with or without memory.
  [[nodiscard]] std::uint64_t blocks() const { return blocks_.size(); }
  [[nodiscard]] std::uint64_t bytes() const { return blocks_.bytes(); }
  void release() { blocks_.release(); }

  [[nodiscard]] std::uint64_t find(const row_groups& store, std::uint64_t row, std::uint64_t group) const {
    const std::uint32_t block = blocks_[row * blocks_of_row_ + group / block_size];
    return block == 0 ? 0 : store.at(block)[group % block_size];
  }
  /// Returns an entry for writing. Workers may write different rows at the same time.
  /// @throws backend::memory_exceeded
  [[nodiscard]] std::uint64_t& entry(row_groups& store, row_groups::reserve& reserve, std::uint64_t row,
                                     std::uint64_t group) {
    std::uint32_t& block = blocks_[row * blocks_of_row_ + group / block_size];
    if (block == 0) block = store.take(reserve);
    return store.at(block)[group % block_size];
  }
  /// Calls action(first group, entries) for each block of a row that has memory, until an action returns false.
  template <class Action>
  void for_each_block(const row_groups& store, std::uint64_t row, const Action& action) const {
    const std::uint32_t* const blocks = blocks_.data() + row * blocks_of_row_;
    for (std::uint64_t b = 0; b < blocks_of_row_; ++b) {
      if (blocks[b] != 0 && !action(b * block_size, store.at(blocks[b]))) return;
    }
  }

 private:
  std::uint64_t blocks_of_row_ = 0;
  backend::array<std::uint32_t> blocks_;  // [row][block]: place in the store; 0: no memory
};

}  // namespace gpulog::storage
