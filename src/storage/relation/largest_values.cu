#include "storage/relation/largest_values.hpp"

#include <algorithm>

#include "backend/array.hpp"
#include "backend/gpu/occupancy.hpp"
#include "backend/gpu/wave.hpp"

namespace gpulog::storage::gpu {

namespace {

constexpr unsigned largest_threads = 256;

/// A wave has one value to offer, so few threads meet in the result.
__global__ void largest_kernel(const word* values, std::uint64_t rows, word* result) {
  word largest = 0;
  const std::uint64_t step = static_cast<std::uint64_t>(gridDim.x) * blockDim.x;
  for (std::uint64_t i = static_cast<std::uint64_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < rows; i += step)
    largest = max(largest, values[i]);
  largest = backend::gpu::greatest_of_lanes(largest);
  if (backend::gpu::lane() == 0 && largest != 0) atomicMax(result, largest);
}

}  // namespace

std::vector<word> largest_values(const backend::gpu::device_context& context, backend::memory_resource& resource,
                                 const std::vector<column_values>& columns) {
  std::vector<word> largest(columns.size(), 0);
  backend::array<word> results(resource, columns.size());
  for (std::size_t c = 0; c < columns.size(); ++c) {
    if (columns[c].rows == 0) continue;
    const auto blocks = static_cast<unsigned>(
        std::clamp<std::uint64_t>(columns[c].rows / largest_threads / 8, 1,
                                  context.full_blocks(largest_threads) * backend::gpu::launch_factors::reductions));
    backend::gpu::launch(GPULOG_KERNEL(largest_kernel), {blocks, largest_threads, 0, context.stream()},
                         columns[c].values, columns[c].rows, results.data() + c);
  }
  backend::gpu::copy_async(largest.data(), results.data(), largest.size() * sizeof(word),
                           backend::gpu::direction::device_to_host, context.stream());
  context.synchronize();
  return largest;
}

}  // namespace gpulog::storage::gpu
