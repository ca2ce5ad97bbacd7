#pragma once

#include <cstdint>

#include "backend/cuda/error.hpp"
#include "kernels/cuda/phase_batch.hpp"

namespace gpulog::exec {

/// Pinned memory that a batch's last block writes to.
struct pinned_reports {
  static constexpr std::size_t most_tasks = 2048;

  pinned_reports() {
    GPULOG_CUDA_TRY(cudaMallocHost(reinterpret_cast<void**>(&reports), most_tasks * sizeof *reports + sizeof *number));
    number = reinterpret_cast<std::uint64_t*>(reports + most_tasks);
    *number = 0;
  }
  ~pinned_reports() { cudaFreeHost(reports); }
  pinned_reports(const pinned_reports&) = delete;
  pinned_reports& operator=(const pinned_reports&) = delete;

  kernels::cuda::batch_report* reports = nullptr;
  std::uint64_t* number = nullptr;
};

}  // namespace gpulog::exec
