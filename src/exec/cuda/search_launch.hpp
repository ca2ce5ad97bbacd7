#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>
#include <vector>

#include "backend/array.hpp"
#include "backend/cuda/device.hpp"
#include "backend/cuda/error.hpp"

/// What searches of a fixpoint that falls apart have in common, over values and over numbers.
namespace gpulog::exec {

/// Queues of the blocks under way take at most that share of the device.
constexpr std::uint64_t queue_share = 8;
/// So many times as many searches as are under way at a time tell how many rows there will be.
constexpr std::uint64_t sample_searches = 2;
/// Rows for the first searches, whose results tell how many rows there will be.
constexpr std::uint64_t sample_rows = 64u << 20;

/// Threads a block: few, so that many searches are under way, but for bitmaps that leave room for few blocks.
struct launch_shape {
  unsigned threads = 256;
  unsigned blocks = 0;
};
template <class Kernel>
launch_shape shape_of(const backend::cuda::device_context& context, Kernel kernel, std::size_t shared_bytes) {
  GPULOG_CUDA_TRY(
      cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(shared_bytes)));
  launch_shape shape;
  for (const unsigned threads : {256U, 512U, 1024U}) {
    int resident = 0;
    GPULOG_CUDA_TRY(
        cudaOccupancyMaxActiveBlocksPerMultiprocessor(&resident, kernel, static_cast<int>(threads), shared_bytes));
    shape = {threads, static_cast<unsigned>(resident) * context.multiprocessors()};
    if (static_cast<unsigned>(resident) * threads >= 1024) break;
  }
  return shape;
}

template <class T>
void upload(const backend::cuda::device_context& context, backend::array<T>& to, const std::vector<T>& values) {
  GPULOG_CUDA_TRY(
      cudaMemcpyAsync(to.data(), values.data(), values.size() * sizeof(T), cudaMemcpyHostToDevice, context.stream()));
  context.synchronize();  // values may go
}

/// Room for that many rows in a column of results; `used` rows stay.
inline void grow_column(const backend::cuda::device_context& context, backend::memory_resource& resource,
                        backend::array<word>& column, std::uint64_t used, std::uint64_t rows) {
  backend::array<word> larger(resource, rows, backend::fresh_memory::anything);
  if (used != 0) {
    GPULOG_CUDA_TRY(
        cudaMemcpyAsync(larger.data(), column.data(), used * sizeof(word), cudaMemcpyDeviceToDevice, context.stream()));
  }
  column.swap(larger);
}

}  // namespace gpulog::exec
