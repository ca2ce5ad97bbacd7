#pragma once

#include <cuda_runtime_api.h>

#include <stdexcept>
#include <string>

namespace gpulog::backend::cuda {

/// A call of the CUDA runtime failed; what() has file, line, and CUDA's name and text.
class cuda_error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

inline void check(cudaError_t status, const char* file, int line) {
  if (status == cudaSuccess) return;
  cudaGetLastError();  // clears it, so that what follows is not blamed for it
  throw cuda_error(std::string("CUDA error ") + cudaGetErrorName(status) + " (" + cudaGetErrorString(status) + ") at " +
                   file + ":" + std::to_string(line));
}

}  // namespace gpulog::backend::cuda

#define GPULOG_CUDA_TRY(call) ::gpulog::backend::cuda::check((call), __FILE__, __LINE__)
