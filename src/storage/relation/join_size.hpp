#pragma once

#include <cstdint>

#include "backend/gpu/device.hpp"
#include "storage/relation/largest_values.hpp"

namespace gpulog::storage::gpu {

/// Returns the number of pairs of rows with equal values in two columns: exact for small columns, otherwise estimated
/// from samples of both. Waits for the device.
/// @param keys more than the largest value of `right`
[[nodiscard]] double join_size(const backend::gpu::device_context& context, backend::memory_resource& resource,
                               const column_values& left, const column_values& right, std::uint64_t keys);

}  // namespace gpulog::storage::gpu
