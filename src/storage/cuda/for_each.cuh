#pragma once

#include <cuda_runtime_api.h>

#include <algorithm>
#include <cstdint>

#include "backend/array.hpp"
#include "backend/cuda/error.hpp"
#include "storage/key_level.hpp"

/// Small tools of sources that work on whole arrays.
namespace gpulog::storage::cuda {

using backend::fresh_memory;

constexpr unsigned for_each_threads = 256;

inline unsigned blocks_for(std::uint64_t n) {
  return static_cast<unsigned>(std::clamp<std::uint64_t>((n + for_each_threads - 1) / for_each_threads, 1, 1u << 16));
}

__device__ inline std::uint64_t thread_number() {
  return static_cast<std::uint64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
}
__device__ inline std::uint64_t thread_count() { return static_cast<std::uint64_t>(gridDim.x) * blockDim.x; }

/// Runs a functor for every number below n.
template <class Function>
__global__ void for_each_kernel(std::uint64_t n, Function function) {
  for (std::uint64_t i = thread_number(); i < n; i += thread_count()) function(i);
}
template <class Function>
void for_each(cudaStream_t stream, std::uint64_t n, Function function) {
  if (n == 0) return;
  for_each_kernel<<<blocks_for(n), for_each_threads, 0, stream>>>(n, function);
  GPULOG_CUDA_TRY(cudaGetLastError());
}

/// Calls a CUB function twice: for the size of its scratch memory, and with it.
template <class Call>
void with_scratch(memory_resource& resource, Call&& call) {
  std::size_t bytes = 0;
  GPULOG_CUDA_TRY(call(nullptr, bytes));
  array<std::uint8_t> scratch(resource, bytes + 1, fresh_memory::anything);
  GPULOG_CUDA_TRY(call(static_cast<void*>(scratch.data()), bytes));
}

}  // namespace gpulog::storage::cuda
