#pragma once

#include <cstdint>
#if defined(__HIP__)
#include <hip/hip_runtime.h>
#endif

/// Functions shared by kernels and the host.
#if defined(__CUDACC__) || defined(__HIP__)
#define GPULOG_HOST_DEVICE __host__ __device__
#define GPULOG_NO_INLINE __noinline__
#else
#define GPULOG_HOST_DEVICE
#define GPULOG_NO_INLINE __attribute__((noinline))
#endif

namespace gpulog::backend {

/// Returns the upper half of the 128-bit product.
[[nodiscard]] GPULOG_HOST_DEVICE inline std::uint64_t multiply_high(std::uint64_t a, std::uint64_t b) {
#if defined(__CUDA_ARCH__) || defined(__HIP_DEVICE_COMPILE__)
  return __umul64hi(a, b);
#else
  __extension__ using wide = unsigned __int128;
  return static_cast<std::uint64_t>((static_cast<wide>(a) * b) >> 64);
#endif
}

/// Returns a + b * c, rounded twice: a fused multiply-add on a device would differ from the host's result.
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
