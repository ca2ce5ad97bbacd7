#pragma once

#include <cstdint>

#include "backend/gpu/vendor.hpp"
#include "kernels/loop/phase_batch.hpp"

namespace gpulog::exec {

/// Pinned memory that the last block of a batch writes to.
struct pinned_reports {
  static constexpr std::size_t most_tasks = 2048;

  pinned_reports() {
    reports = static_cast<kernels::gpu::batch_report*>(
        backend::gpu::allocate_pinned_bytes(most_tasks * sizeof *reports + sizeof *number));
    number = reinterpret_cast<std::uint64_t*>(reports + most_tasks);
    *number = 0;
  }
  ~pinned_reports() { backend::gpu::deallocate_pinned(reports); }
  pinned_reports(const pinned_reports&) = delete;
  pinned_reports& operator=(const pinned_reports&) = delete;

  kernels::gpu::batch_report* reports = nullptr;
  std::uint64_t* number = nullptr;
};

}  // namespace gpulog::exec
