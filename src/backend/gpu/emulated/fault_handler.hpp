#pragma once

#include <cstddef>
#include <cstdint>

/// What is said when somebody touches memory that is not his, before the process ends.
namespace gpulog::backend::gpu::emulated {

/// From now on says so when the host, or a kernel, touches what is closed of the device's memory, and names the kernel
/// that touches no memory at all.
void guard_device_memory(const void* memory, std::uint64_t bytes);

}  // namespace gpulog::backend::gpu::emulated
