#pragma once

#include <cstdint>
#include <functional>

#include "backend/gpu/vendor.hpp"

/// The stream operations that backend/gpu/launch.hpp and primitives_by_functor.hpp enqueue.
namespace gpulog::backend::gpu::emulated {

struct shape {
  unsigned blocks;
  unsigned threads;  ///< per block
  std::uint64_t shared_bytes;
  bool is_cooperative;
};

/// @param body executed by each thread
/// @throws device_error if a device would refuse the launch
void launch(const char* name, const shape& shape, stream_handle stream, std::function<void()> body, call_site site);
/// Returns the number of resident blocks per multiprocessor.
[[nodiscard]] unsigned resident_blocks(const char* name, unsigned threads, std::uint64_t shared_bytes, call_site site);

/// Enqueues work for one host thread that has access to device memory.
void enqueue(const char* name, stream_handle stream, std::function<void()> work);

}  // namespace gpulog::backend::gpu::emulated
