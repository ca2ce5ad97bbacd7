#pragma once

#include <cstdint>

#include "backend/gpu/host_device.hpp"
#include "storage/sets/hash.hpp"

namespace gpulog::storage {

/// Rows that stand for all: one out of each `step`, at a place that follows no period of the data.
struct join_sample {
  std::uint64_t size = 0;
  std::uint64_t step = 1;

  /// @param most about how many rows; all, if there are no more
  join_sample(std::uint64_t rows, std::uint64_t most) : size(rows), step(rows / most) {
    if (step <= 1) {
      step = 1;
    } else {
      size = rows / step;
    }
  }
  [[nodiscard]] GPULOG_HOST_DEVICE std::uint64_t row(std::uint64_t i) const { return i * step + mix(i) % step; }
  /// How many rows each one stands for.
  [[nodiscard]] double weight() const { return static_cast<double>(step); }
};

}  // namespace gpulog::storage
