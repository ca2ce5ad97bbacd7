#pragma once

#include <cstdint>
#include <vector>

#include "backend/array.hpp"
#include "backend/gpu/device.hpp"
#include "backend/gpu/launch.hpp"
#include "backend/gpu/occupancy.hpp"

/// Common parts of searches over values and over numbers.
namespace gpulog::exec {

/// Launch shape: few threads per block, so that many searches run at a time, unless bitmaps leave space for only a few
/// blocks.
struct launch_shape {
  unsigned threads = 256;
  unsigned blocks = 0;
};
template <class... Parameters>
launch_shape shape_of(const backend::gpu::device_context& context, const backend::gpu::kernel<Parameters...>& kernel,
                      std::size_t shared_bytes) {
  launch_shape shape;
  for (const unsigned threads : {256U, 512U, 1024U}) {
    const unsigned resident = backend::gpu::blocks_a_multiprocessor(kernel, threads, shared_bytes);
    shape = {threads, resident * context.multiprocessors()};
    const double busy = static_cast<double>(resident * threads) / context.properties().threads_per_multiprocessor;
    if (busy >= backend::gpu::launch_factors::searching_threads) break;
  }
  return shape;
}

template <class T>
void upload(const backend::gpu::device_context& context, backend::array<T>& to, const std::vector<T>& values) {
  backend::gpu::copy_async(to.data(), values.data(), values.size() * sizeof(T), backend::gpu::direction::host_to_device,
                           context.stream());
  context.synchronize();  // `values` may go out of scope
}

/// Enlarges a column of results, keeping `used` rows.
inline void grow_column(const backend::gpu::device_context& context, backend::memory_resource& resource,
                        backend::array<word>& column, std::uint64_t used, std::uint64_t rows) {
  backend::array<word> larger(resource, rows, backend::fresh_memory::anything);
  if (used != 0) {
    backend::gpu::copy_async(larger.data(), column.data(), used * sizeof(word),
                             backend::gpu::direction::device_to_device, context.stream());
  }
  column.swap(larger);
}

}  // namespace gpulog::exec
