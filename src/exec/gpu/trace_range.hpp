#pragma once

#include <nvtx3/nvToolsExt.h>
#include <string>

namespace gpulog::exec {

/// A named range in the profiler's time line (NVTX).
class trace_range {
 public:
  explicit trace_range(const std::string& name) { nvtxRangePushA(name.c_str()); }
  ~trace_range() { nvtxRangePop(); }
  trace_range(const trace_range&) = delete;
  trace_range& operator=(const trace_range&) = delete;
};

}  // namespace gpulog::exec
