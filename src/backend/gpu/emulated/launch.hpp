#pragma once

#include <cstdint>
#include <functional>

#include "backend/gpu/vendor.hpp"

/// What backend/gpu/launch.hpp and primitives_by_functor.hpp put into a stream.
namespace gpulog::backend::gpu::emulated {

struct shape {
  unsigned blocks;
  unsigned threads;  ///< of a block
  std::uint64_t shared_bytes;
  bool is_cooperative;
};

/// @param body what one thread does. @throws device_error where a device would refuse it
void launch(const char* name, const shape& shape, stream_handle stream, std::function<void()> body, call_site site);
/// Of a multiprocessor.
[[nodiscard]] unsigned resident_blocks(const char* name, unsigned threads, std::uint64_t shared_bytes, call_site site);

/// Work that one thread of the host does, with device memory within its reach.
void enqueue(const char* name, stream_handle stream, std::function<void()> work);

}  // namespace gpulog::backend::gpu::emulated
