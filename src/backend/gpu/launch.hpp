#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

#include "backend/gpu/vendor.hpp"

/// How kernels are named, launched, and asked what they need. Kernels themselves are written in the language that the
/// vendors share: __global__, __device__, threadIdx, atomicAdd, __syncthreads.
#if defined(GPULOG_GPU_EMULATED)
#include "backend/gpu/emulated/language.hpp"
#include "backend/gpu/emulated/launch.hpp"
#elif defined(GPULOG_GPU_HIP)
#include <hip/hip_runtime.h>
#endif

#if defined(GPULOG_GPU_HIP) && defined(__HIPCC__)
namespace gpulog::backend::gpu::detail {
template <class B, class A>
concept integer_unlike = std::is_integral_v<A> && std::is_integral_v<B> && !std::is_same_v<A, B>;
}
// HIP would compare integers of different types as double, which has no room for all of 64 bits; CUDA takes most of
// them for ambiguous, and so does this.
template <class A, ::gpulog::backend::gpu::detail::integer_unlike<A> B>
__device__ void min(A, B) = delete;
template <class A, ::gpulog::backend::gpu::detail::integer_unlike<A> B>
__device__ void max(A, B) = delete;
#endif

/// A kernel with its name, for launches and for what they report.
#define GPULOG_KERNEL(...) (::gpulog::backend::gpu::kernel{(__VA_ARGS__), #__VA_ARGS__})

// A variable of the block, of static size: GPULOG_SHARED(word[32], marks); it is not initialised.
#if !defined(GPULOG_GPU_EMULATED)
#define GPULOG_SHARED(type, name) __shared__ ::std::type_identity_t<type> name
/// The block's memory whose size the launch says, as an array of a type. It is declared in the namespace of the kernel:
/// arrays of different types have different names there.
#define GPULOG_DYNAMIC_SHARED(type, name) extern __shared__ type name[]
#endif
/// A large argument of a kernel that is read where the launch put it.
#if defined(GPULOG_GPU_CUDA)
#define GPULOG_GRID_CONSTANT __grid_constant__
#else
#define GPULOG_GRID_CONSTANT
#endif

namespace gpulog::backend::gpu {

/// Threads that a multiprocessor of the architecture being compiled for runs at a time, for bounds of kernels'
/// registers.
#if defined(__CUDA_ARCH__) && \
    (__CUDA_ARCH__ == 860 || __CUDA_ARCH__ == 870 || __CUDA_ARCH__ == 890 || __CUDA_ARCH__ >= 1200)
constexpr unsigned resident_threads = 1536;
#else
constexpr unsigned resident_threads = 2048;
#endif

template <class... Parameters>
struct kernel {
  void (*function)(Parameters...) = nullptr;
  const char* name = "";
};
template <class... Parameters>
kernel(void (*)(Parameters...), const char*) -> kernel<Parameters...>;

struct launch_shape {
  unsigned blocks;
  unsigned threads;  ///< of a block
  std::uint64_t shared_bytes;
  stream_handle stream;
  call_site site = {};
};

#if !defined(GPULOG_GPU_EMULATED)
/// What the templates below are made of (vendor.cpp).
void launch_function(const void* function, const char* name, const launch_shape& shape, void** parameters,
                     bool is_cooperative);
[[nodiscard]] unsigned resident_blocks(const void* function, unsigned threads, std::uint64_t shared_bytes,
                                       call_site site);
void load_function(const void* function) noexcept;
#endif

namespace detail {
template <class... Parameters>
void launch(const kernel<Parameters...>& started, const launch_shape& shape, bool is_cooperative,
            std::type_identity_t<Parameters>... arguments) {
#if defined(GPULOG_GPU_EMULATED)
  emulated::launch(
      started.name, {shape.blocks, shape.threads, shape.shared_bytes, is_cooperative}, shape.stream,
      [function = started.function, arguments...] { function(arguments...); }, shape.site);
#else
  void* parameters[] = {static_cast<void*>(&arguments)...};
  launch_function(reinterpret_cast<const void*>(started.function), started.name, shape, parameters, is_cooperative);
#endif
}
}  // namespace detail

/// Starts a kernel in the stream's order. @throws device_error
template <class... Parameters, class... Arguments>
void launch(const kernel<Parameters...>& started, const launch_shape& shape, Arguments&&... arguments) {
  detail::launch(started, shape, false, std::forward<Arguments>(arguments)...);
}

/// The same where blocks wait for each other: all run at a time. @param shape at most most_blocks_together() of them
template <class... Parameters, class... Arguments>
void launch_together(const kernel<Parameters...>& started, const launch_shape& shape, Arguments&&... arguments) {
  detail::launch(started, shape, true, std::forward<Arguments>(arguments)...);
}

/// How many blocks a multiprocessor runs at a time.
template <class... Parameters>
[[nodiscard]] unsigned blocks_a_multiprocessor(const kernel<Parameters...>& started, unsigned threads,
                                               std::uint64_t shared_bytes, call_site site = {}) {
#if defined(GPULOG_GPU_EMULATED)
  return emulated::resident_blocks(started.name, threads, shared_bytes, site);
#else
  return resident_blocks(reinterpret_cast<const void*>(started.function), threads, shared_bytes, site);
#endif
}

/// Brings a kernel onto the device before it is first launched.
template <class... Parameters>
void load(const kernel<Parameters...>& loaded) noexcept {
#if defined(GPULOG_GPU_EMULATED)
  static_cast<void>(loaded);
#else
  load_function(reinterpret_cast<const void*>(loaded.function));
#endif
}

}  // namespace gpulog::backend::gpu
