#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#if defined(GPULOG_SANITIZED_ADDRESSES)
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif

/// Red zones between allocations: AddressSanitizer watches the zones, or a byte pattern reveals a write later.
namespace gpulog::backend::gpu::emulated {

#if defined(GPULOG_SANITIZED_ADDRESSES)
constexpr bool watches_addresses = true;
#else
constexpr bool watches_addresses = false;
#endif

constexpr int fresh_byte = 0xA5;  ///< content of memory never written
constexpr int freed_byte = 0xDE;  ///< content of freed memory
constexpr int red_zone_byte = 0xC7;

/// Forbids any access from now on.
inline void forbid([[maybe_unused]] void* memory, [[maybe_unused]] std::size_t bytes) {
#if defined(GPULOG_SANITIZED_ADDRESSES)
  ASAN_POISON_MEMORY_REGION(memory, bytes);
#endif
}

inline void permit([[maybe_unused]] void* memory, [[maybe_unused]] std::size_t bytes) {
#if defined(GPULOG_SANITIZED_ADDRESSES)
  ASAN_UNPOISON_MEMORY_REGION(memory, bytes);
#endif
}

/// Turns a range into a red zone.
inline void make_red_zone(std::byte* memory, std::size_t bytes) {
  permit(memory, bytes);
  if constexpr (!watches_addresses) std::memset(memory, red_zone_byte, bytes);
  forbid(memory, bytes);
}

/// Returns whether a red zone still has its pattern (always true with AddressSanitizer).
[[nodiscard]] inline bool is_untouched(const std::byte* memory, std::size_t bytes) {
  if constexpr (watches_addresses) return true;
  std::size_t at = 0;
  for (; at < bytes && reinterpret_cast<std::uintptr_t>(memory + at) % sizeof(std::uint64_t) != 0; ++at) {
    if (memory[at] != std::byte{red_zone_byte}) return false;
  }
  constexpr std::uint64_t pattern = UINT64_MAX / UINT8_MAX * red_zone_byte;
  for (; at + sizeof pattern <= bytes; at += sizeof pattern) {
    std::uint64_t word;
    std::memcpy(&word, memory + at, sizeof word);
    if (word != pattern) return false;
  }
  for (; at < bytes; ++at) {
    if (memory[at] != std::byte{red_zone_byte}) return false;
  }
  return true;
}

}  // namespace gpulog::backend::gpu::emulated
