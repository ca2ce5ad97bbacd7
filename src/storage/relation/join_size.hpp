#pragma once

#include <cstdint>

#include "backend/gpu/device.hpp"
#include "storage/relation/largest_values.hpp"

namespace gpulog::storage::gpu {

/// How many pairs of rows are equal in two columns: exact for small ones, otherwise told from a sample of both.
/// @param keys more than the largest value of `right`. Waits for the device
[[nodiscard]] double join_size(const backend::gpu::device_context& context, backend::memory_resource& resource,
                               const column_values& left, const column_values& right, std::uint64_t keys);

}  // namespace gpulog::storage::gpu
