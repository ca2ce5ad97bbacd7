#pragma once

#include <cstdint>
#include <vector>

#include "backend/gpu/device.hpp"
#include "storage/relation/row_sample.hpp"

namespace gpulog::storage::gpu {

/// sample_rows() of each of several relations, with columns on the device. Waits for it once: what a sample takes here
/// is the way to the device and back.
[[nodiscard]] std::vector<sampled_rows> sample_rows(const backend::gpu::device_context& context,
                                                    backend::memory_resource& resource,
                                                    const std::vector<sampled_columns>& relations,
                                                    std::uint64_t wanted);

}  // namespace gpulog::storage::gpu
