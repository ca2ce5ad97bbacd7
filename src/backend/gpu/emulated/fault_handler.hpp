#pragma once

#include <cstddef>
#include <cstdint>

/// Reports accesses to closed device memory before the process ends.
namespace gpulog::backend::gpu::emulated {

/// Installs a signal handler that reports accesses to the closed part of [memory, memory + bytes) by the host or a
/// kernel, and any further segmentation fault inside a kernel with the kernel's name.
void guard_device_memory(const void* memory, std::uint64_t bytes);

}  // namespace gpulog::backend::gpu::emulated
