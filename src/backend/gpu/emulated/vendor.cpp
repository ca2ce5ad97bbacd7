#include "backend/gpu/vendor.hpp"

#include "backend/gpu/emulated/records.hpp"
#include "backend/gpu/emulated/runtime.hpp"
#include "backend/gpu/emulated/settings.hpp"

/// The vendor's runtime, for the emulated device.
namespace gpulog::backend::gpu {

using emulated::runtime;

const char* vendor_name() { return "emulated"; }
const char* built_architectures() {
  return emulated::wave_lanes == 32 ? "emulated, waves of 32" : "emulated, waves of 64";
}

std::string count_devices(int& count) {
  count = 1;
  return {};
}
std::string start_context(int device) { return device == 0 ? "" : "the only emulated device has number 0"; }
bool has_driver() { return true; }
void load_kernels_at_start() {}

void use_device(int device, call_site site) {
  if (device != 0) {
    throw device_error("emulated device: there is one, number 0, at " + std::string(site.file) + ":" +
                       std::to_string(site.line));
  }
}

device_properties properties_of(int device, call_site site) {
  use_device(device, site);
  device_properties found;
  found.name = "emulated device";
  found.multiprocessors = emulated::multiprocessors();
  found.threads_per_multiprocessor = emulated::threads_per_multiprocessor;
  found.shared_bytes_per_block = emulated::shared_bytes_per_block;
  found.memory_bytes = emulated::memory_bytes();
  constexpr double as_a_host_has = 1e10;
  found.bytes_per_second = as_a_host_has;
  return found;
}

memory_use memory_of_device(call_site) { return runtime::instance().memory(); }
void* allocate(std::uint64_t bytes, call_site) { return runtime::instance().allocate(bytes); }
void deallocate(void* memory) noexcept { runtime::instance().deallocate(memory); }
void* allocate_pinned_bytes(std::uint64_t bytes, call_site) { return runtime::instance().allocate_pinned(bytes); }
void deallocate_pinned(void* memory) noexcept { runtime::instance().deallocate_pinned(memory); }

void copy_async(void* to, const void* from, std::uint64_t bytes, direction way, stream_handle stream, call_site site) {
  runtime::instance().copy(to, from, bytes, way, stream, site);
}
void fill_async(void* memory, int byte, std::uint64_t bytes, stream_handle stream, call_site site) {
  runtime::instance().fill(memory, byte, bytes, stream, site);
}

stream_handle make_stream(call_site) { return runtime::instance().make_stream(); }
void destroy(stream_handle stream) noexcept { runtime::instance().destroy(stream); }
void synchronize(stream_handle stream, call_site) { runtime::instance().wait(stream); }
void synchronize_quietly(stream_handle stream) noexcept { runtime::instance().wait_quietly(stream); }
bool is_idle(stream_handle, call_site) {
  // The caller may wait for work of a different stream.
  runtime::instance().wait_for_all();
  return true;
}
void wait_for(stream_handle stream, event_handle event, call_site) { runtime::instance().make_wait(stream, *event); }

event_handle make_event(event_kind, call_site) { return new emulated::event; }
void destroy(event_handle event) noexcept { delete event; }
void record(event_handle event, stream_handle stream, call_site) { runtime::instance().record(*event, stream); }
void synchronize(event_handle event, call_site) { runtime::instance().wait(*event); }
double seconds_between(event_handle begin, event_handle end, call_site site) {
  return runtime::instance().seconds_between(*begin, *end, site);
}

}  // namespace gpulog::backend::gpu
