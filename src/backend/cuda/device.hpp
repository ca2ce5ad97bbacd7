#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>
#include <string>

#include "backend/memory_resource.hpp"

namespace gpulog::backend::cuda {

/// Why CUDA can't be used here; empty when it can.
[[nodiscard]] std::string why_not_available(int device);

/// A device and the stream that all of a program's work is ordered on.
class device_context {
 public:
  /// @throws cuda_error
  explicit device_context(int device);
  ~device_context();
  device_context(const device_context&) = delete;
  device_context& operator=(const device_context&) = delete;

  [[nodiscard]] cudaStream_t stream() const { return stream_; }
  [[nodiscard]] unsigned multiprocessors() const { return multiprocessors_; }
  void synchronize() const;
  /// The value of a counter in device memory, once all work so far is done.
  [[nodiscard]] std::uint64_t read_counter(const std::uint64_t* counter) const;

 private:
  cudaStream_t stream_ = nullptr;
  std::uint64_t* staged_counter_ = nullptr;  // pinned: a copy into pageable memory costs twice the round trip
  unsigned multiprocessors_ = 0;
};

/// Device memory from one pool of plain allocations, reused in the order of the stream. Zeroed like all resources.
class device_memory final : public memory_resource {
 public:
  explicit device_memory(const device_context& context);
  void discard(void*, std::uint64_t) noexcept override {}

 protected:
  void* do_allocate(std::uint64_t bytes) override;
  void do_deallocate(void* memory, std::uint64_t bytes) noexcept override;
  void* do_resize(void* memory, std::uint64_t old_bytes, std::uint64_t new_bytes) override;

 private:
  const device_context* context_;
};

}  // namespace gpulog::backend::cuda
