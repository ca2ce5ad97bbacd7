#pragma once

#include <cstdint>

/// What the environment says about the emulated device, and what is made from its seed.
namespace gpulog::backend::gpu::emulated {

/// GPULOG_EMULATED_SEED; 0: all goes on in the order of its numbers.
[[nodiscard]] std::uint64_t seed();
/// For tests, instead of what the environment says.
void set_seed(std::uint64_t seed);

/// GPULOG_EMULATED_MULTIPROCESSORS
[[nodiscard]] unsigned multiprocessors();
/// GPULOG_EMULATED_MEMORY, in bytes
[[nodiscard]] std::uint64_t memory_bytes();

constexpr unsigned threads_per_multiprocessor = 1024;
constexpr unsigned most_block_threads = 1024;

/// A pseudo-random number made from another one: a hash.
[[nodiscard]] constexpr std::uint64_t mixed(std::uint64_t value) {
  value += 0x9E3779B97F4A7C15ULL;
  value = (value ^ (value >> 30)) * 0xBF58476D1CE4E5B9ULL;
  value = (value ^ (value >> 27)) * 0x94D049BB133111EBULL;
  return value ^ (value >> 31);
}

/// A number below a bound, from a random one.
[[nodiscard]] constexpr std::uint64_t below(std::uint64_t bound, std::uint64_t random) {
  return ((random >> 32) * bound) >> 32;
}

/// Decides, from the seed, where a device may do either of two things: it differs from call to call.
[[nodiscard]] bool by_chance();

}  // namespace gpulog::backend::gpu::emulated
