#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

#include "backend/gpu/vendor.hpp"

/// Naming, launching and querying kernels. Kernels are written in the language common to the vendors: __global__,
/// __device__, threadIdx, atomicAdd, __syncthreads.
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
// HIP would compare integers of different types as double, which cannot represent all 64-bit integers. CUDA rejects
// most mixed calls as ambiguous; these declarations reject all.
template <class A, ::gpulog::backend::gpu::detail::integer_unlike<A> B>
__device__ void min(A, B) = delete;
template <class A, ::gpulog::backend::gpu::detail::integer_unlike<A> B>
__device__ void max(A, B) = delete;
#endif

/// A kernel and its name, for launches and error messages.
#define GPULOG_KERNEL(...) (::gpulog::backend::gpu::kernel{(__VA_ARGS__), #__VA_ARGS__})

// Declares an uninitialized static variable shared by the block: GPULOG_SHARED(word[32], marks).
#if !defined(GPULOG_GPU_EMULATED)
#define GPULOG_SHARED(type, name) __shared__ ::std::type_identity_t<type> name
/// Declares the block's dynamic shared memory, whose size is set by the launch, as an array. The declaration is at
/// namespace scope, so arrays of different types need different names.
#define GPULOG_DYNAMIC_SHARED(type, name) extern __shared__ type name[]
#endif
/// A large kernel argument that is read from constant memory without a copy.
#if defined(GPULOG_GPU_CUDA)
#define GPULOG_GRID_CONSTANT __grid_constant__
#else
#define GPULOG_GRID_CONSTANT
#endif

namespace gpulog::backend::gpu {

/// Threads that a multiprocessor of the target architecture runs at a time, for the register bounds of kernels.
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
  unsigned threads;  ///< per block
  std::uint64_t shared_bytes;
  stream_handle stream;
  call_site site = {};
};

#if !defined(GPULOG_GPU_EMULATED)
/// The functions that the templates below call (vendor.cpp).
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

/// Launches a kernel in stream order.
/// @throws device_error
template <class... Parameters, class... Arguments>
void launch(const kernel<Parameters...>& started, const launch_shape& shape, Arguments&&... arguments) {
  detail::launch(started, shape, false, std::forward<Arguments>(arguments)...);
}

/// Launches a kernel whose blocks wait for each other, so all blocks run at the same time.
/// @param shape has at most most_blocks_together() blocks
template <class... Parameters, class... Arguments>
void launch_together(const kernel<Parameters...>& started, const launch_shape& shape, Arguments&&... arguments) {
  detail::launch(started, shape, true, std::forward<Arguments>(arguments)...);
}

/// Returns the number of blocks that a multiprocessor runs at a time.
template <class... Parameters>
[[nodiscard]] unsigned blocks_a_multiprocessor(const kernel<Parameters...>& started, unsigned threads,
                                               std::uint64_t shared_bytes, call_site site = {}) {
#if defined(GPULOG_GPU_EMULATED)
  return emulated::resident_blocks(started.name, threads, shared_bytes, site);
#else
  return resident_blocks(reinterpret_cast<const void*>(started.function), threads, shared_bytes, site);
#endif
}

/// Loads a kernel onto the device before the first launch.
template <class... Parameters>
void load(const kernel<Parameters...>& loaded) noexcept {
#if defined(GPULOG_GPU_EMULATED)
  static_cast<void>(loaded);
#else
  load_function(reinterpret_cast<const void*>(loaded.function));
#endif
}

}  // namespace gpulog::backend::gpu
