#include "backend/cuda/device.hpp"

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <iterator>
#include <system_error>

#include "backend/cuda/error.hpp"
#include "backend/cuda/staging_ring.hpp"

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

bool has_driver() {
  // To ask the driver's library would start it. It talks to the kernel in one of these ways: Linux, Linux on Windows,
  // boards with a GPU of their own.
  constexpr const char* ways[] = {"/dev/nvidiactl", "/dev/dxg", "/dev/nvhost-ctrl-gpu", "/dev/nvgpu"};
  return std::any_of(std::begin(ways), std::end(ways), [](const char* way) {
    std::error_code ignored;
    return std::filesystem::exists(way, ignored);
  });
}

void load_kernels_at_start() { ::setenv("CUDA_MODULE_LOADING", "EAGER", 0); }

std::string start_device(int device) {
  std::string reason = why_not_available(device);
  if (!reason.empty()) return reason;
  // The first call that needs it makes the device's context.
  const cudaError_t status = cudaSetDevice(device);
  if (status == cudaSuccess && cudaFree(nullptr) == cudaSuccess) return {};
  return cudaGetErrorString(cudaGetLastError());
}

device_context::device_context(int device) : device_(device) {
  use();
  GPULOG_CUDA_TRY(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking));
  GPULOG_CUDA_TRY(cudaMallocHost(reinterpret_cast<void**>(&staged_counters_), 2 * sizeof *staged_counters_));
  int value = 0;
  GPULOG_CUDA_TRY(cudaDeviceGetAttribute(&value, cudaDevAttrMultiProcessorCount, device));
  multiprocessors_ = static_cast<unsigned>(value);
  GPULOG_CUDA_TRY(cudaDeviceGetAttribute(&value, cudaDevAttrMaxSharedMemoryPerBlockOptin, device));
  shared_bytes_ = static_cast<std::uint64_t>(value);
  std::size_t free_bytes = 0;
  std::size_t all_bytes = 0;
  GPULOG_CUDA_TRY(cudaMemGetInfo(&free_bytes, &all_bytes));
  memory_bytes_ = all_bytes;
  GPULOG_CUDA_TRY(cudaMallocHost(reinterpret_cast<void**>(&reports_), most_reports * sizeof *reports_));
  std::fill_n(reports_, most_reports, kernel_report{});
}

device_context::~device_context() {
  staging_.reset();
  if (staged_counters_ != nullptr) cudaFreeHost(staged_counters_);
  if (reports_ != nullptr) cudaFreeHost(reports_);
  if (stream_ != nullptr) cudaStreamDestroy(stream_);
}

void device_context::use() const { GPULOG_CUDA_TRY(cudaSetDevice(device_)); }

staging_ring& device_context::staging() const {
  if (!staging_) staging_ = std::make_unique<staging_ring>(*this);
  return *staging_;
}

void device_context::synchronize() const { GPULOG_CUDA_TRY(cudaStreamSynchronize(stream_)); }

std::pair<std::uint64_t, std::uint64_t> device_context::read_pair(const std::uint64_t* counters, unsigned n) const {
  GPULOG_CUDA_TRY(cudaMemcpyAsync(staged_counters_, counters, n * sizeof *counters, cudaMemcpyDeviceToHost, stream_));
  synchronize();
  return {staged_counters_[0], staged_counters_[1]};
}

kernel_report device_context::wait_for_report(std::uint64_t number) const {
  wait_for_value(report(number)->number, number);
  return *report(number);
}

void device_context::wait_for_value(std::uint64_t& written, std::uint64_t value) const {
  constexpr unsigned polls_between_queries = 1u << 14;
  std::atomic_ref<std::uint64_t> seen(written);
  for (unsigned polls = 1; seen.load(std::memory_order_acquire) != value; ++polls) {
    if (polls % polls_between_queries != 0) continue;
    // A kernel that failed never reports.
    const cudaError_t status = cudaStreamQuery(stream_);
    if (status == cudaErrorNotReady) continue;
    GPULOG_CUDA_TRY(status);
    break;  // all is done, so the report is there
  }
}

device_memory::device_memory(const device_context& context, std::uint64_t limit)
    : context_(&context), plain_(std::getenv("GPULOG_PLAIN_DEVICE_ALLOCATIONS") != nullptr) {
  set_limit(limit);
  if (plain_) return;
  // Larger slabs take longer to get and to give back: 0.1 ms and 0.7 ms a GB were measured on an H200.
  constexpr std::uint64_t share = 16;
  std::size_t free_bytes = 0;
  std::size_t all_bytes = 0;
  GPULOG_CUDA_TRY(cudaMemGetInfo(&free_bytes, &all_bytes));
  add_slab(limit == 0 ? free_bytes / share : std::min<std::uint64_t>(limit, free_bytes / share));
}

device_memory::~device_memory() {
  for (void* slab : slabs_) cudaFree(slab);
}

bool device_memory::add_slab(std::uint64_t bytes) {
  void* slab = nullptr;
  const cudaError_t status = cudaMalloc(&slab, bytes);
  if (status == cudaErrorMemoryAllocation) {
    cudaGetLastError();
    return false;
  }
  GPULOG_CUDA_TRY(status);
  slabs_.push_back(slab);
  pool_.add_slab(slab, bytes);
  return true;
}

void* device_memory::take(std::uint64_t bytes) {
  void* memory = pool_.allocate(bytes);
  if (memory != nullptr) return memory;
  // A quarter of what is left, so that the next arrays find room in it too; if that is refused, what is needed.
  std::size_t free_bytes = 0;
  std::size_t all_bytes = 0;
  GPULOG_CUDA_TRY(cudaMemGetInfo(&free_bytes, &all_bytes));
  const std::uint64_t needed = block_pool::slab_bytes_for(bytes);
  std::uint64_t wanted = std::max<std::uint64_t>(needed, free_bytes / 4);
  if (limit() != 0) wanted = std::max(needed, std::min(wanted, limit() - std::min(limit(), used())));
  if (!add_slab(wanted) && !add_slab(needed)) return nullptr;
  return pool_.allocate(bytes);
}

void* device_memory::do_allocate(std::uint64_t bytes, fresh_memory contents) {
  void* memory = nullptr;
  if (plain_) {
    if (cudaMalloc(&memory, bytes) != cudaSuccess) {
      cudaGetLastError();
      return nullptr;
    }
  } else {
    memory = take(bytes);
  }
  if (memory != nullptr && contents == fresh_memory::zeroed)
    GPULOG_CUDA_TRY(cudaMemsetAsync(memory, 0, bytes, context_->stream()));
  return memory;
}

void device_memory::do_deallocate(void* memory, std::uint64_t bytes) noexcept {
  if (plain_) {
    cudaFree(memory);
  } else {
    pool_.deallocate(memory, bytes);
  }
}

void* device_memory::do_resize(void* memory, std::uint64_t old_bytes, std::uint64_t new_bytes) {
  void* moved = do_allocate(new_bytes, fresh_memory::anything);
  if (moved == nullptr) return nullptr;
  const std::uint64_t kept = std::min(old_bytes, new_bytes);
  GPULOG_CUDA_TRY(cudaMemcpyAsync(moved, memory, kept, cudaMemcpyDeviceToDevice, context_->stream()));
  if (new_bytes > kept)
    GPULOG_CUDA_TRY(cudaMemsetAsync(static_cast<char*>(moved) + kept, 0, new_bytes - kept, context_->stream()));
  do_deallocate(memory, old_bytes);
  return moved;
}

}  // namespace gpulog::backend::cuda
