#include "backend/gpu/vendor.hpp"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <iterator>
#include <system_error>

#include "backend/gpu/vendor_status.hpp"

/// CUDA and HIP: the runtimes have the same functions with different prefixes.
namespace gpulog::backend::gpu {

using detail::check;
using detail::status;

const char* vendor_name() {
#if defined(GPULOG_GPU_HIP)
  return "HIP";
#else
  return "CUDA";
#endif
}

const char* built_architectures() { return GPULOG_GPU_ARCHITECTURES; }

std::string count_devices(int& count) {
  count = 0;
  const status result = GPULOG_RUNTIME(GetDeviceCount)(&count);
  if (result == GPULOG_RUNTIME(Success)) return {};
  static_cast<void>(GPULOG_RUNTIME(GetLastError)());
  if (result == GPULOG_RUNTIME(ErrorNoDevice)) return {};
  return GPULOG_RUNTIME(GetErrorString)(result);
}

std::string start_context(int device) {
  // The first call that needs a context creates it.
  status result = GPULOG_RUNTIME(SetDevice)(device);
  if (result == GPULOG_RUNTIME(Success)) result = GPULOG_RUNTIME(Free)(nullptr);
  if (result == GPULOG_RUNTIME(Success)) return {};
  static_cast<void>(GPULOG_RUNTIME(GetLastError)());
  return GPULOG_RUNTIME(GetErrorString)(result);
}

bool has_driver() {
  // Loading the driver's library would start the driver, so look for its device files instead: CUDA on Linux, WSL and
  // Jetson boards; HIP on Linux.
#if defined(GPULOG_GPU_HIP)
  constexpr const char* ways[] = {"/dev/kfd"};
#else
  constexpr const char* ways[] = {"/dev/nvidiactl", "/dev/dxg", "/dev/nvhost-ctrl-gpu", "/dev/nvgpu"};
#endif
  return std::any_of(std::begin(ways), std::end(ways), [](const char* way) {
    std::error_code ignored;
    return std::filesystem::exists(way, ignored);
  });
}

void load_kernels_at_start() {
#if defined(GPULOG_GPU_CUDA)
  ::setenv("CUDA_MODULE_LOADING", "EAGER", 0);
#endif
}

void use_device(int device, call_site site) { check(GPULOG_RUNTIME(SetDevice)(device), site); }

namespace {
#if defined(GPULOG_GPU_HIP)
using device_attribute = hipDeviceAttribute_t;
#else
using device_attribute = cudaDeviceAttr;
#endif

int attribute(device_attribute which, int device, call_site site) {
  int value = 0;
  check(GPULOG_RUNTIME(DeviceGetAttribute)(&value, which, device), site);
  return value;
}
}  // namespace

device_properties properties_of(int device, call_site site) {
  device_properties found;
  const auto of = [&](device_attribute which) {
    return static_cast<std::uint64_t>(std::max(0, attribute(which, device, site)));
  };
#if defined(GPULOG_GPU_HIP)
  hipDeviceProp_t all;
  check(hipGetDeviceProperties(&all, device), site);
  found.name = all.name;
  found.multiprocessors = static_cast<unsigned>(of(hipDeviceAttributeMultiprocessorCount));
  found.threads_per_multiprocessor = static_cast<unsigned>(of(hipDeviceAttributeMaxThreadsPerMultiProcessor));
  found.shared_bytes_per_block = of(hipDeviceAttributeMaxSharedMemoryPerBlock);
  const std::uint64_t kilohertz = of(hipDeviceAttributeMemoryClockRate);
  const std::uint64_t bus_bits = of(hipDeviceAttributeMemoryBusWidth);
#else
  cudaDeviceProp all;
  check(cudaGetDeviceProperties(&all, device), site);
  found.name = all.name;
  found.multiprocessors = static_cast<unsigned>(of(cudaDevAttrMultiProcessorCount));
  found.threads_per_multiprocessor = static_cast<unsigned>(of(cudaDevAttrMaxThreadsPerMultiProcessor));
  found.shared_bytes_per_block = of(cudaDevAttrMaxSharedMemoryPerBlockOptin);
  const std::uint64_t kilohertz = of(cudaDevAttrMemoryClockRate);
  const std::uint64_t bus_bits = of(cudaDevAttrGlobalMemoryBusWidth);
#endif
  constexpr double transfers_a_cycle = 2;
  constexpr double bits_a_byte = 8;
  constexpr double hertz_a_kilohertz = 1000;
  found.bytes_per_second = transfers_a_cycle * static_cast<double>(kilohertz) * hertz_a_kilohertz *
                           static_cast<double>(bus_bits) / bits_a_byte;
  found.memory_bytes = memory_of_device(site).all_bytes;
  return found;
}

memory_use memory_of_device(call_site site) {
  std::size_t free_bytes = 0;
  std::size_t all_bytes = 0;
  check(GPULOG_RUNTIME(MemGetInfo)(&free_bytes, &all_bytes), site);
  return {free_bytes, all_bytes};
}

void* allocate(std::uint64_t bytes, call_site site) {
  void* memory = nullptr;
  const status result = GPULOG_RUNTIME(Malloc)(&memory, bytes);
#if defined(GPULOG_GPU_HIP)
  constexpr status too_little = hipErrorOutOfMemory;
#else
  constexpr status too_little = cudaErrorMemoryAllocation;
#endif
  if (result == too_little) {
    static_cast<void>(GPULOG_RUNTIME(GetLastError)());
    return nullptr;
  }
  check(result, site);
  return memory;
}

void deallocate(void* memory) noexcept { static_cast<void>(GPULOG_RUNTIME(Free)(memory)); }

void* allocate_pinned_bytes(std::uint64_t bytes, call_site site) {
  void* memory = nullptr;
#if defined(GPULOG_GPU_HIP)
  // Coherent regardless of the environment: the host reads this memory while the kernel still writes.
  check(hipHostMalloc(&memory, bytes, hipHostMallocCoherent), site);
#else
  check(cudaHostAlloc(&memory, bytes, cudaHostAllocDefault), site);
#endif
  return memory;
}

void deallocate_pinned(void* memory) noexcept {
  if (memory == nullptr) return;
#if defined(GPULOG_GPU_HIP)
  static_cast<void>(hipHostFree(memory));
#else
  static_cast<void>(cudaFreeHost(memory));
#endif
}

void copy_async(void* to, const void* from, std::uint64_t bytes, direction way, stream_handle stream, call_site site) {
  const auto kind = way == direction::host_to_device   ? GPULOG_RUNTIME(MemcpyHostToDevice)
                    : way == direction::device_to_host ? GPULOG_RUNTIME(MemcpyDeviceToHost)
                                                       : GPULOG_RUNTIME(MemcpyDeviceToDevice);
  check(GPULOG_RUNTIME(MemcpyAsync)(to, from, bytes, kind, stream), site);
}

void fill_async(void* memory, int byte, std::uint64_t bytes, stream_handle stream, call_site site) {
  check(GPULOG_RUNTIME(MemsetAsync)(memory, byte, bytes, stream), site);
}

stream_handle make_stream(call_site site) {
  stream_handle made = nullptr;
  check(GPULOG_RUNTIME(StreamCreateWithFlags)(&made, GPULOG_RUNTIME(StreamNonBlocking)), site);
  return made;
}

void destroy(stream_handle stream) noexcept {
  if (stream != nullptr) static_cast<void>(GPULOG_RUNTIME(StreamDestroy)(stream));
}

void synchronize(stream_handle stream, call_site site) { check(GPULOG_RUNTIME(StreamSynchronize)(stream), site); }

void synchronize_quietly(stream_handle stream) noexcept {
  static_cast<void>(GPULOG_RUNTIME(StreamSynchronize)(stream));
}

bool is_idle(stream_handle stream, call_site site) {
  const status result = GPULOG_RUNTIME(StreamQuery)(stream);
  if (result == GPULOG_RUNTIME(ErrorNotReady)) return false;
  check(result, site);
  return true;
}

void wait_for(stream_handle stream, event_handle event, call_site site) {
  check(GPULOG_RUNTIME(StreamWaitEvent)(stream, event, 0), site);
}

event_handle make_event(event_kind kind, call_site site) {
  event_handle made = nullptr;
  const unsigned flags = kind == event_kind::timed ? GPULOG_RUNTIME(EventDefault) : GPULOG_RUNTIME(EventDisableTiming);
  check(GPULOG_RUNTIME(EventCreateWithFlags)(&made, flags), site);
  return made;
}

void destroy(event_handle event) noexcept {
  if (event != nullptr) static_cast<void>(GPULOG_RUNTIME(EventDestroy)(event));
}

void record(event_handle event, stream_handle stream, call_site site) {
  check(GPULOG_RUNTIME(EventRecord)(event, stream), site);
}

void synchronize(event_handle event, call_site site) { check(GPULOG_RUNTIME(EventSynchronize)(event), site); }

double seconds_between(event_handle begin, event_handle end, call_site site) {
  constexpr double seconds_a_millisecond = 1e-3;
  float milliseconds = 0;
  check(GPULOG_RUNTIME(EventElapsedTime)(&milliseconds, begin, end), site);
  return milliseconds * seconds_a_millisecond;
}

}  // namespace gpulog::backend::gpu
