#pragma once

#include <cstdint>

#include "backend/gpu/host_device.hpp"
#include "storage/sets/hash.hpp"

namespace gpulog::storage {

/// A sample of rows: one out of each `step`, at a pseudorandom place that avoids periods in the data.
struct join_sample {
  std::uint64_t size = 0;
  std::uint64_t step = 1;

  /// @param most approximate maximum number of rows; smaller inputs are sampled completely
  join_sample(std::uint64_t rows, std::uint64_t most) : size(rows), step(rows / most) {
    if (step <= 1) {
      step = 1;
    } else {
      size = rows / step;
    }
  }
  [[nodiscard]] GPULOG_HOST_DEVICE std::uint64_t row(std::uint64_t i) const { return i * step + mix(i) % step; }
  /// Returns the number of rows that each sampled row represents.
  [[nodiscard]] double weight() const { return static_cast<double>(step); }
};

}  // namespace gpulog::storage
