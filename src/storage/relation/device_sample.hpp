#pragma once

#include <cstdint>
#include <vector>

#include "backend/gpu/device.hpp"
#include "storage/relation/row_sample.hpp"

namespace gpulog::storage::gpu {

/// Samples several relations with columns on the device, like sample_rows(). Waits for the device only once, because
/// the round trip dominates the time of a sample.
[[nodiscard]] std::vector<sampled_rows> sample_rows(const backend::gpu::device_context& context,
                                                    backend::memory_resource& resource,
                                                    const std::vector<sampled_columns>& relations,
                                                    std::uint64_t wanted);

}  // namespace gpulog::storage::gpu
