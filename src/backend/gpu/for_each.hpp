#pragma once

#include <algorithm>
#include <cstdint>

#include "backend/array.hpp"
#include "backend/gpu/launch.hpp"

/// Applies functors to all elements of an array.
namespace gpulog::backend::gpu {

constexpr unsigned for_each_threads = 256;
constexpr std::uint64_t most_blocks_of_for_each = 1u << 16;

[[nodiscard]] inline unsigned blocks_for(std::uint64_t n, std::uint64_t most_blocks = most_blocks_of_for_each) {
  return static_cast<unsigned>(
      std::clamp<std::uint64_t>((n + for_each_threads - 1) / for_each_threads, 1, most_blocks));
}

/// The number of the calling thread in its launch, and the number of threads of the launch.
[[nodiscard]] __device__ inline std::uint64_t thread_number() {
  return static_cast<std::uint64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
}
[[nodiscard]] __device__ inline std::uint64_t thread_count() {
  return static_cast<std::uint64_t>(gridDim.x) * blockDim.x;
}

template <class Function>
__global__ void __launch_bounds__(for_each_threads) for_each_kernel(std::uint64_t n, Function function) {
  for (std::uint64_t i = thread_number(); i < n; i += thread_count()) function(i);
}
/// Calls a functor for every number below n, in stream order.
/// @throws device_error
template <class Function>
void for_each(stream_handle stream, std::uint64_t n, const Function& function,
              std::uint64_t most_blocks = most_blocks_of_for_each) {
  if (n == 0) return;
  launch(GPULOG_KERNEL(for_each_kernel<Function>), {blocks_for(n, most_blocks), for_each_threads, 0, stream}, n,
         function);
}

/// Calls a primitive twice: first to query the scratch size, then with the scratch memory.
template <class Call>
void with_scratch(memory_resource& resource, const Call& call) {
  std::size_t bytes = 0;
  call(nullptr, bytes);
  array<std::uint8_t> scratch(resource, bytes + 1, fresh_memory::anything);
  call(static_cast<void*>(scratch.data()), bytes);
}

}  // namespace gpulog::backend::gpu
