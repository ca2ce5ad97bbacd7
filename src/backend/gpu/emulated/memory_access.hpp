#pragma once

#include <cstdint>

/// Access rights to device memory by protection keys of the processor: each host thread has separate rights, and a
/// change takes nanoseconds. Without keys, guarded_memory changes the page protection instead.
namespace gpulog::backend::gpu::emulated {

constexpr std::uint64_t page_bytes = 4096;

/// Returns whether the processor has protection keys, as reach_with_key() requires.
[[nodiscard]] bool has_memory_key();
/// Makes memory readable and writable for threads with access.
/// @return whether the call succeeded
[[nodiscard]] bool reach_with_key(void* memory, std::uint64_t bytes);

/// Grants the calling thread access during the lifetime of this object.
class memory_access {
 public:
  memory_access();
  ~memory_access();
  memory_access(const memory_access&) = delete;
  memory_access& operator=(const memory_access&) = delete;
};

}  // namespace gpulog::backend::gpu::emulated
