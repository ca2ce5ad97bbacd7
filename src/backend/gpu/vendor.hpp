#pragma once

#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <type_traits>

/// The runtime of a device's vendor under names of our own. A build has one vendor: GPULOG_GPU_CUDA, GPULOG_GPU_HIP or
/// GPULOG_GPU_EMULATED is defined. Only this folder knows which one it is.
///
/// Calls throw device_error, which names the call and the place that made it, unless they return whether they
/// succeeded.
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

/// Threads that run in step: a warp of 32 or a wavefront of 64 lanes.
#if defined(GPULOG_GPU_CUDA)
constexpr unsigned wave_size = 32;
#else
constexpr unsigned wave_size = GPULOG_WAVE_SIZE;  // the build says it, with the architecture
#endif
/// One bit a lane.
using lane_mask = std::conditional_t<wave_size == 32, std::uint32_t, std::uint64_t>;

/// Shared memory that a block can have on every device that a build for the vendor runs on.
#if defined(GPULOG_GPU_CUDA)
constexpr std::uint64_t least_shared_bytes = 99u << 10;
#else
constexpr std::uint64_t least_shared_bytes = 64u << 10;
#endif

/// A call of the vendor's runtime failed; what() has file, line, and the vendor's name and text of the error.
class device_error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Where a call was made.
struct call_site {
  const char* file;
  int line;
  call_site(const char* in = __builtin_FILE(), int at = __builtin_LINE()) : file(in), line(at) {}  // NOLINT: implicit
};

/// "CUDA", "HIP" or "emulated".
[[nodiscard]] const char* vendor_name();
/// Whether the build's devices are for tests of the kernels only.
#if defined(GPULOG_GPU_EMULATED)
constexpr bool is_for_tests = true;
#else
constexpr bool is_for_tests = false;
#endif
/// Architectures that the kernels were compiled for, as "80, 90" or "gfx90a".
[[nodiscard]] const char* built_architectures();

/// What a device is, for all that depends on the machine.
struct device_properties {
  std::string name;
  unsigned multiprocessors = 0;
  unsigned threads_per_multiprocessor = 0;
  std::uint64_t shared_bytes_per_block = 0;  ///< that a kernel can ask for
  std::uint64_t memory_bytes = 0;            ///< used or not
  double bytes_per_second = 0;               ///< of its memory; 0: not known
};

// Devices. These return the reason for which they failed; empty: they did not.
[[nodiscard]] std::string count_devices(int& count);
[[nodiscard]] std::string start_context(int device);  ///< makes it the calling thread's

/// Whether there is a driver at all; asking does not start it.
[[nodiscard]] bool has_driver();
/// Before the driver is asked for anything, and before the process has other threads: kernels come onto the device with
/// it, where the user's environment says nothing else, instead of each when it is first launched, in the middle of a
/// query.
void load_kernels_at_start();

void use_device(int device, call_site site = {});
[[nodiscard]] device_properties properties_of(int device, call_site site = {});

struct memory_use {
  std::uint64_t free_bytes;
  std::uint64_t all_bytes;
};
[[nodiscard]] memory_use memory_of_device(call_site site = {});

// Memory of the device. @return nullptr: there is not enough
[[nodiscard]] void* allocate(std::uint64_t bytes, call_site site = {});
void deallocate(void* memory) noexcept;
/// Memory of the host that copies and kernels reach directly.
[[nodiscard]] void* allocate_pinned_bytes(std::uint64_t bytes, call_site site = {});
void deallocate_pinned(void* memory) noexcept;
template <class T>
[[nodiscard]] T* allocate_pinned(std::uint64_t count, call_site site = {}) {
  return static_cast<T*>(allocate_pinned_bytes(count * sizeof(T), site));
}

enum class direction : std::uint8_t { host_to_device, device_to_host, device_to_device };
/// In the stream's order. Memory of the host that is not pinned may be used again when it returns.
void copy_async(void* to, const void* from, std::uint64_t bytes, direction way, stream_handle stream,
                call_site site = {});
/// Sets every byte.
void fill_async(void* memory, int byte, std::uint64_t bytes, stream_handle stream, call_site site = {});

[[nodiscard]] stream_handle make_stream(call_site site = {});
void destroy(stream_handle stream) noexcept;
void synchronize(stream_handle stream, call_site site = {});
/// As synchronize(), for destructors.
void synchronize_quietly(stream_handle stream) noexcept;
/// Whether all work so far is done.
[[nodiscard]] bool is_idle(stream_handle stream, call_site site = {});
/// What is put into the stream from now on begins when the event has happened.
void wait_for(stream_handle stream, event_handle event, call_site site = {});

enum class event_kind : std::uint8_t { plain, timed };
[[nodiscard]] event_handle make_event(event_kind kind, call_site site = {});
void destroy(event_handle event) noexcept;
void record(event_handle event, stream_handle stream, call_site site = {});
void synchronize(event_handle event, call_site site = {});
/// Between two timed events that have happened.
[[nodiscard]] double seconds_between(event_handle begin, event_handle end, call_site site = {});

}  // namespace gpulog::backend::gpu
