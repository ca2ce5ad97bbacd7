#pragma once

#include <cstdint>

/// Who may touch the device's memory, by protection keys of the processor: each thread of the host has its own rights,
/// and to change them takes some nanoseconds. Where the processor has no keys, guarded_memory closes the pages.
namespace gpulog::backend::gpu::emulated {

constexpr std::uint64_t page_bytes = 4096;

/// Whether there are keys, for memory that is reserved with reach_with_key().
[[nodiscard]] bool has_memory_key();
/// Those with access can read and write there from now on. @return whether that worked
[[nodiscard]] bool reach_with_key(void* memory, std::uint64_t bytes);

/// While it lives, the calling thread has access.
class memory_access {
 public:
  memory_access();
  ~memory_access();
  memory_access(const memory_access&) = delete;
  memory_access& operator=(const memory_access&) = delete;
};

}  // namespace gpulog::backend::gpu::emulated
