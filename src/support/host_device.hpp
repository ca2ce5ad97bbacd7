#pragma once

/// Marks a function that kernels call too: one source for every backend.
#if defined(__CUDACC__) || defined(__HIPCC__)
#define GPULOG_HOST_DEVICE __host__ __device__
#else
#define GPULOG_HOST_DEVICE
#endif
