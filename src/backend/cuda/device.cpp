#include "backend/cuda/device.hpp"

#include <algorithm>

#include "backend/cuda/error.hpp"

namespace gpulog::backend::cuda {

std::string why_not_available(int device) {
  int count = 0;
  const cudaError_t status = cudaGetDeviceCount(&count);
  if (status != cudaSuccess) {
    cudaGetLastError();
    return cudaGetErrorString(status);
  }
  if (count == 0) return "no CUDA device was found";
  if (device < 0 || device >= count) {
    return "there is no device " + std::to_string(device) + "; devices are 0.." + std::to_string(count - 1);
  }
  return {};
}

device_context::device_context(int device) {
  GPULOG_CUDA_TRY(cudaSetDevice(device));
  GPULOG_CUDA_TRY(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking));
  GPULOG_CUDA_TRY(cudaMallocHost(reinterpret_cast<void**>(&staged_counter_), sizeof *staged_counter_));
  int value = 0;
  GPULOG_CUDA_TRY(cudaDeviceGetAttribute(&value, cudaDevAttrMultiProcessorCount, device));
  multiprocessors_ = static_cast<unsigned>(value);
  // Freed memory stays in the pool: the next allocation of the stream takes it without asking the driver.
  cudaMemPool_t pool = nullptr;
  GPULOG_CUDA_TRY(cudaDeviceGetDefaultMemPool(&pool, device));
  std::uint64_t keep = UINT64_MAX;
  GPULOG_CUDA_TRY(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &keep));
}

device_context::~device_context() {
  if (staged_counter_ != nullptr) cudaFreeHost(staged_counter_);
  if (stream_ != nullptr) cudaStreamDestroy(stream_);
}

void device_context::synchronize() const { GPULOG_CUDA_TRY(cudaStreamSynchronize(stream_)); }

std::uint64_t device_context::read_counter(const std::uint64_t* counter) const {
  GPULOG_CUDA_TRY(cudaMemcpyAsync(staged_counter_, counter, sizeof *counter, cudaMemcpyDeviceToHost, stream_));
  synchronize();
  return *staged_counter_;
}

device_memory::device_memory(const device_context& context) : context_(&context) {}

void* device_memory::do_allocate(std::uint64_t bytes) {
  void* memory = nullptr;
  const cudaError_t status = cudaMallocAsync(&memory, bytes, context_->stream());
  if (status == cudaErrorMemoryAllocation) {
    cudaGetLastError();
    return nullptr;
  }
  GPULOG_CUDA_TRY(status);
  GPULOG_CUDA_TRY(cudaMemsetAsync(memory, 0, bytes, context_->stream()));
  return memory;
}

void device_memory::do_deallocate(void* memory, std::uint64_t) noexcept { cudaFreeAsync(memory, context_->stream()); }

void* device_memory::do_resize(void* memory, std::uint64_t old_bytes, std::uint64_t new_bytes) {
  void* moved = do_allocate(new_bytes);
  if (moved == nullptr) return nullptr;
  GPULOG_CUDA_TRY(
      cudaMemcpyAsync(moved, memory, std::min(old_bytes, new_bytes), cudaMemcpyDeviceToDevice, context_->stream()));
  do_deallocate(memory, old_bytes);
  return moved;
}

}  // namespace gpulog::backend::cuda
