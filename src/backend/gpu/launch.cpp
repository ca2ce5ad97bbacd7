#include "backend/gpu/launch.hpp"

#include "backend/gpu/vendor_status.hpp"

namespace gpulog::backend::gpu {

namespace {

/// Kernels must request shared memory above the default limit explicitly; static variables count towards that limit.
void allow_shared_bytes(const void* function, std::uint64_t bytes, call_site site) {
  constexpr std::uint64_t always_there = 40u << 10;
  if (bytes <= always_there) return;
  detail::check(GPULOG_RUNTIME(FuncSetAttribute)(function, GPULOG_RUNTIME(FuncAttributeMaxDynamicSharedMemorySize),
                                                 static_cast<int>(bytes)),
                site);
}

}  // namespace

void launch_function(const void* function, const char*, const launch_shape& shape, void** parameters,
                     bool is_cooperative) {
  allow_shared_bytes(function, shape.shared_bytes, shape.site);
  const dim3 blocks(shape.blocks);
  const dim3 threads(shape.threads);
#if defined(GPULOG_GPU_HIP)
  const detail::status result =
      is_cooperative ? hipLaunchCooperativeKernel(function, blocks, threads, parameters,
                                                  static_cast<unsigned>(shape.shared_bytes), shape.stream)
                     : hipLaunchKernel(function, blocks, threads, parameters, shape.shared_bytes, shape.stream);
#else
  const detail::status result =
      is_cooperative
          ? cudaLaunchCooperativeKernel(function, blocks, threads, parameters, shape.shared_bytes, shape.stream)
          : cudaLaunchKernel(function, blocks, threads, parameters, shape.shared_bytes, shape.stream);
#endif
  detail::check(result, shape.site);
}

unsigned resident_blocks(const void* function, unsigned threads, std::uint64_t shared_bytes, call_site site) {
  allow_shared_bytes(function, shared_bytes, site);
  int blocks = 0;
  detail::check(GPULOG_RUNTIME(OccupancyMaxActiveBlocksPerMultiprocessor)(&blocks, function, static_cast<int>(threads),
                                                                          shared_bytes),
                site);
  return static_cast<unsigned>(blocks);
}

void load_function(const void* function) noexcept {
  GPULOG_RUNTIME(FuncAttributes) attributes;
  if (GPULOG_RUNTIME(FuncGetAttributes)(&attributes, function) != GPULOG_RUNTIME(Success))
    static_cast<void>(GPULOG_RUNTIME(GetLastError)());
}

}  // namespace gpulog::backend::gpu
