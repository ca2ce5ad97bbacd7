#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "support/ids.hpp"

namespace gpulog::storage {

/// A tile of rows as arrays by column.
class row_tile {
 public:
  row_tile(const std::vector<std::vector<word>>& rows, std::size_t begin, std::size_t end, std::uint32_t arity)
      : columns_(arity), pointers_(arity), size_(static_cast<std::uint32_t>(end - begin)) {
    for (std::uint32_t c = 0; c < arity; ++c) {
      for (std::size_t row = begin; row < end; ++row) columns_[c].push_back(rows[row][c]);
      pointers_[c] = columns_[c].data();
    }
  }
  [[nodiscard]] const word* const* values() const { return pointers_.data(); }
  [[nodiscard]] std::uint32_t size() const { return size_; }

 private:
  std::vector<std::vector<word>> columns_;
  std::vector<const word*> pointers_;
  std::uint32_t size_;
};

}  // namespace gpulog::storage
