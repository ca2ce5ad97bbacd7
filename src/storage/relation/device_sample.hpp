#pragma once

#include <cstdint>
#include <vector>

#include "backend/gpu/device.hpp"
#include "storage/relation/row_sample.hpp"

namespace gpulog::storage::gpu {

/// sample_rows() of columns on the device. Waits for it.
[[nodiscard]] sampled_rows sample_rows(const backend::gpu::device_context& context, backend::memory_resource& resource,
                                       const std::vector<const word*>& columns, std::uint64_t rows,
                                       std::uint64_t wanted);

}  // namespace gpulog::storage::gpu
