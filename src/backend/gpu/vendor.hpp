#pragma once

#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <type_traits>

/// The runtime of the device's vendor under neutral names. A build has one vendor: GPULOG_GPU_CUDA, GPULOG_GPU_HIP or
/// GPULOG_GPU_EMULATED is defined. Only this folder depends on the choice.
///
/// Calls throw device_error with the name and place of the call, unless they return whether they succeeded.
#if defined(GPULOG_GPU_HIP)
struct ihipStream_t;
struct ihipEvent_t;
#elif defined(GPULOG_GPU_CUDA)
struct CUstream_st;
struct CUevent_st;
#endif

namespace gpulog::backend::gpu {

#if defined(GPULOG_GPU_HIP)
using stream_handle = ihipStream_t*;
using event_handle = ihipEvent_t*;
#elif defined(GPULOG_GPU_CUDA)
using stream_handle = CUstream_st*;
using event_handle = CUevent_st*;
#elif defined(GPULOG_GPU_EMULATED)
namespace emulated {
class stream;
class event;
}  // namespace emulated
using stream_handle = emulated::stream*;
using event_handle = emulated::event*;
#else
#error "the build names no vendor: GPULOG_GPU_CUDA, GPULOG_GPU_HIP or GPULOG_GPU_EMULATED"
#endif

/// Threads that run in lockstep: a warp of 32 or a wavefront of 64 lanes.
#if defined(GPULOG_GPU_CUDA)
constexpr unsigned wave_size = 32;
#else
constexpr unsigned wave_size = GPULOG_WAVE_SIZE;  // set by the build together with the architecture
#endif
/// One bit per lane.
using lane_mask = std::conditional_t<wave_size == 32, std::uint32_t, std::uint64_t>;

/// Shared memory available to a block on every supported device of the vendor.
#if defined(GPULOG_GPU_CUDA)
constexpr std::uint64_t least_shared_bytes = 99u << 10;
#else
constexpr std::uint64_t least_shared_bytes = 64u << 10;
#endif

/// A failed call of the vendor's runtime; what() has the file, the line, and the vendor's error name and text.
class device_error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Source location of a call.
struct call_site {
  const char* file;
  int line;
  call_site(const char* in = __builtin_FILE(), int at = __builtin_LINE()) : file(in), line(at) {}  // NOLINT: implicit
};

/// Returns "CUDA", "HIP" or "emulated".
[[nodiscard]] const char* vendor_name();
/// Whether the devices of this build exist only to test kernels.
#if defined(GPULOG_GPU_EMULATED)
constexpr bool is_for_tests = true;
#else
constexpr bool is_for_tests = false;
#endif
/// Returns the architectures that the kernels were compiled for, such as "80, 90" or "gfx90a".
[[nodiscard]] const char* built_architectures();

/// Properties of a device for machine-dependent decisions.
struct device_properties {
  std::string name;
  unsigned multiprocessors = 0;
  unsigned threads_per_multiprocessor = 0;
  std::uint64_t shared_bytes_per_block = 0;  ///< maximum that a kernel can request
  std::uint64_t memory_bytes = 0;            ///< total, used or not
  double bytes_per_second = 0;               ///< memory bandwidth; 0 if unknown
};

// Devices. These functions return the reason of a failure, or an empty text.
[[nodiscard]] std::string count_devices(int& count);
[[nodiscard]] std::string start_context(int device);  ///< makes the device current for the calling thread

/// Returns whether a driver is installed, without starting it.
[[nodiscard]] bool has_driver();
/// Must run before the first driver call and before the process starts threads. Unless the environment says otherwise,
/// loads all kernels when the driver starts instead of each kernel at its first launch, in the middle of a query.
void load_kernels_at_start();

void use_device(int device, call_site site = {});
[[nodiscard]] device_properties properties_of(int device, call_site site = {});

struct memory_use {
  std::uint64_t free_bytes;
  std::uint64_t all_bytes;
};
[[nodiscard]] memory_use memory_of_device(call_site site = {});

// Device memory.
// @return nullptr if the device has too little free memory
[[nodiscard]] void* allocate(std::uint64_t bytes, call_site site = {});
void deallocate(void* memory) noexcept;
/// Allocates host memory that copies and kernels access directly.
[[nodiscard]] void* allocate_pinned_bytes(std::uint64_t bytes, call_site site = {});
void deallocate_pinned(void* memory) noexcept;
template <class T>
[[nodiscard]] T* allocate_pinned(std::uint64_t count, call_site site = {}) {
  return static_cast<T*>(allocate_pinned_bytes(count * sizeof(T), site));
}

enum class direction : std::uint8_t { host_to_device, device_to_host, device_to_device };
/// Copies in stream order. Pageable host memory may be reused when this returns.
void copy_async(void* to, const void* from, std::uint64_t bytes, direction way, stream_handle stream,
                call_site site = {});
/// Sets every byte.
void fill_async(void* memory, int byte, std::uint64_t bytes, stream_handle stream, call_site site = {});

[[nodiscard]] stream_handle make_stream(call_site site = {});
void destroy(stream_handle stream) noexcept;
void synchronize(stream_handle stream, call_site site = {});
/// Like synchronize(), for destructors.
void synchronize_quietly(stream_handle stream) noexcept;
/// Returns whether all work enqueued so far is done.
[[nodiscard]] bool is_idle(stream_handle stream, call_site site = {});
/// Makes work enqueued from now on wait for the event.
void wait_for(stream_handle stream, event_handle event, call_site site = {});

enum class event_kind : std::uint8_t { plain, timed };
[[nodiscard]] event_handle make_event(event_kind kind, call_site site = {});
void destroy(event_handle event) noexcept;
void record(event_handle event, stream_handle stream, call_site site = {});
void synchronize(event_handle event, call_site site = {});
/// Returns the time between two completed timed events.
[[nodiscard]] double seconds_between(event_handle begin, event_handle end, call_site site = {});

}  // namespace gpulog::backend::gpu
