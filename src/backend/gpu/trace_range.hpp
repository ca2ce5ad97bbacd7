#pragma once

#include <string>

#if defined(GPULOG_GPU_CUDA)
#include <nvtx3/nvToolsExt.h>
#endif

namespace gpulog::backend::gpu {

/// A named range in the timeline of the vendor's profiler: NVTX on CUDA, no effect elsewhere.
class trace_range {
 public:
#if defined(GPULOG_GPU_CUDA)
  explicit trace_range(const std::string& name) { nvtxRangePushA(name.c_str()); }
  ~trace_range() { nvtxRangePop(); }
#else
  explicit trace_range(const std::string&) {}
  ~trace_range() = default;
#endif
  trace_range(const trace_range&) = delete;
  trace_range& operator=(const trace_range&) = delete;
};

}  // namespace gpulog::backend::gpu
