#pragma once

#include <cstdint>
#include <string>

/// Settings of the emulated device from the environment, and pseudo-random numbers derived from the seed.
namespace gpulog::backend::gpu::emulated {

/// GPULOG_EMULATED_SEED; 0 runs threads and blocks in the order of their numbers.
[[nodiscard]] std::uint64_t seed();
/// Overrides the environment in tests.
void set_seed(std::uint64_t seed);

/// GPULOG_EMULATED_MULTIPROCESSORS
[[nodiscard]] unsigned multiprocessors();
/// GPULOG_EMULATED_MEMORY, in bytes
[[nodiscard]] std::uint64_t memory_bytes();

/// A barrier in a source file, such as "search.cuh", 122.
struct barrier_place {
  std::string file;
  int line = 0;  ///< 0: no barrier
};
/// GPULOG_EMULATED_REMOVED_BARRIER, such as "search.cuh:122": a barrier that kernels skip.
[[nodiscard]] const barrier_place& removed_barrier();
/// Overrides the environment in tests.
void set_removed_barrier(barrier_place removed);

constexpr unsigned threads_per_multiprocessor = 1024;
constexpr unsigned most_block_threads = 1024;

/// Returns a pseudo-random number derived from `value` (a hash).
[[nodiscard]] constexpr std::uint64_t mixed(std::uint64_t value) {
  value += 0x9E3779B97F4A7C15ULL;
  value = (value ^ (value >> 30)) * 0xBF58476D1CE4E5B9ULL;
  value = (value ^ (value >> 27)) * 0x94D049BB133111EBULL;
  return value ^ (value >> 31);
}

/// Maps a random number to a number below a bound.
[[nodiscard]] constexpr std::uint64_t below(std::uint64_t bound, std::uint64_t random) {
  return ((random >> 32) * bound) >> 32;
}

/// Chooses by the seed between two behaviours that a device may show; the result differs from call to call.
[[nodiscard]] bool by_chance();

}  // namespace gpulog::backend::gpu::emulated
