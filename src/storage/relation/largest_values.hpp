#pragma once

#include <cstdint>
#include <vector>

#include "backend/gpu/device.hpp"
#include "support/ids.hpp"

namespace gpulog::storage::gpu {

/// A column, or a part of one, in device memory.
struct column_values {
  const word* values = nullptr;
  std::uint64_t rows = 0;
};

/// Returns the largest value of each column; 0 for an empty column. Waits for the device only once.
[[nodiscard]] std::vector<word> largest_values(const backend::gpu::device_context& context,
                                               backend::memory_resource& resource,
                                               const std::vector<column_values>& columns);

}  // namespace gpulog::storage::gpu
