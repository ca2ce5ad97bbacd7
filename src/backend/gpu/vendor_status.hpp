#pragma once

#include "backend/gpu/vendor.hpp"

/// The vendor's status codes, for the files of this folder.
#if defined(GPULOG_GPU_HIP)
#include <hip/hip_runtime_api.h>
#define GPULOG_RUNTIME(name) hip##name
#elif defined(GPULOG_GPU_CUDA)
#include <cuda_runtime_api.h>
#define GPULOG_RUNTIME(name) cuda##name
#endif

namespace gpulog::backend::gpu::detail {

using status = GPULOG_RUNTIME(Error_t);

inline void check(status value, call_site site = {}) {
  if (value == GPULOG_RUNTIME(Success)) return;
  // Clears the error, so that later calls do not report it.
  static_cast<void>(GPULOG_RUNTIME(GetLastError)());
  throw device_error(std::string(vendor_name()) + " error " + GPULOG_RUNTIME(GetErrorName)(value) + " (" +
                     GPULOG_RUNTIME(GetErrorString)(value) + ") at " + site.file + ":" + std::to_string(site.line));
}

}  // namespace gpulog::backend::gpu::detail
