#pragma once

#include <cstdint>
#if defined(__HIP__)
#include <hip/hip_runtime.h>
#endif

/// Functions that kernels and the host call: one source for every backend.
#if defined(__CUDACC__) || defined(__HIP__)
#define GPULOG_HOST_DEVICE __host__ __device__
#define GPULOG_NO_INLINE __noinline__
#else
#define GPULOG_HOST_DEVICE
#define GPULOG_NO_INLINE __attribute__((noinline))
#endif

namespace gpulog::backend {

/// The upper half of a product of 128 bits.
[[nodiscard]] GPULOG_HOST_DEVICE inline std::uint64_t multiply_high(std::uint64_t a, std::uint64_t b) {
#if defined(__CUDA_ARCH__) || defined(__HIP_DEVICE_COMPILE__)
  return __umul64hi(a, b);
#else
  __extension__ using wide = unsigned __int128;
  return static_cast<std::uint64_t>((static_cast<wide>(a) * b) >> 64);
#endif
}

/// a + b * c, rounded twice: where a device would fuse the two, results would differ from the host's.
template <class Float>
[[nodiscard]] GPULOG_HOST_DEVICE Float add_product(Float a, Float b, Float c) {
#if defined(__CUDA_ARCH__)
  if constexpr (sizeof(Float) == sizeof(float)) {
    return __fadd_rn(a, __fmul_rn(b, c));
  } else {
    return __dadd_rn(a, __dmul_rn(b, c));
  }
#else
#if defined(__clang__)
#pragma clang fp contract(off)
#endif
  return a + b * c;
#endif
}

}  // namespace gpulog::backend
