#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <mutex>
#include <shared_mutex>
#include <utility>
#include <vector>

#include "backend/array.hpp"
#include "support/ids.hpp"

namespace gpulog::kernels {

/// Columns that several workers append to: an atomic addition reserves space; a worker without space enlarges the
/// columns while the rest wait.
class appended_columns {
 public:
  /// @param arity at least 1
  appended_columns(backend::memory_resource& resource, std::uint64_t capacity, std::size_t arity = 2) {
    for (std::size_t c = 0; c < arity; ++c) columns_.emplace_back(resource, capacity, backend::fresh_memory::anything);
  }
  /// Appends n rows; write(column) must store n words of column c at column(c).
  template <class Write>
  void append(std::uint64_t n, const Write& write) {
    const std::uint64_t row = tail_.fetch_add(n);
    std::shared_lock<std::shared_mutex> in_use(gate_);
    while (row + n > columns_.back().capacity()) {  // the last column to grow
      in_use.unlock();
      {
        const std::unique_lock<std::shared_mutex> alone(gate_);
        const std::uint64_t needed = std::max(row + n, columns_.back().capacity() + columns_.back().capacity() / 2);
        if (row + n > columns_.back().capacity()) {
          for (auto& column : columns_) column.set_capacity(needed);
        }
      }
      in_use.lock();
    }
    write([this, row](std::size_t c) { return columns_[c].data() + row; });
  }
  [[nodiscard]] std::uint64_t rows() const { return tail_.load(); }
  [[nodiscard]] std::vector<backend::array<word>> take() { return std::move(columns_); }

 private:
  std::vector<backend::array<word>> columns_;
  std::atomic<std::uint64_t> tail_{0};
  std::shared_mutex gate_;
};

}  // namespace gpulog::kernels
