#include "storage/cuda/largest_values.hpp"

#include <algorithm>

#include "backend/array.hpp"
#include "backend/cuda/error.hpp"

namespace gpulog::storage::cuda {

namespace {

constexpr unsigned threads = 256;

/// A warp has one value to offer, so few threads meet in the result.
__global__ void largest_kernel(const word* values, std::uint64_t rows, word* result) {
  word largest = 0;
  const std::uint64_t step = static_cast<std::uint64_t>(gridDim.x) * blockDim.x;
  for (std::uint64_t i = static_cast<std::uint64_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < rows; i += step)
    largest = max(largest, values[i]);
  for (unsigned offset = 16; offset != 0; offset /= 2)
    largest = max(largest, __shfl_xor_sync(0xffffffffU, largest, offset));
  if (threadIdx.x % 32 == 0 && largest != 0) atomicMax(result, largest);
}

}  // namespace

std::vector<word> largest_values(const backend::cuda::device_context& context, backend::memory_resource& resource,
                                 const std::vector<column_values>& columns) {
  std::vector<word> largest(columns.size(), 0);
  backend::array<word> results(resource, columns.size());
  for (std::size_t c = 0; c < columns.size(); ++c) {
    if (columns[c].rows == 0) continue;
    const auto blocks = static_cast<unsigned>(
        std::clamp<std::uint64_t>(columns[c].rows / threads / 8, 1, context.multiprocessors() * 8ULL));
    largest_kernel<<<blocks, threads, 0, context.stream()>>>(columns[c].values, columns[c].rows, results.data() + c);
    GPULOG_CUDA_TRY(cudaGetLastError());
  }
  GPULOG_CUDA_TRY(cudaMemcpyAsync(largest.data(), results.data(), largest.size() * sizeof(word), cudaMemcpyDeviceToHost,
                                  context.stream()));
  context.synchronize();
  return largest;
}

}  // namespace gpulog::storage::cuda
