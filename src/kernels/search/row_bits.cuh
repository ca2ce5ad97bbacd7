#pragma once

#include <cstdint>

#include "kernels/join/wave_share.cuh"
#include "kernels/search/takeover.hpp"

/// Rows of bits in shared memory, and their conversion to numbers.
namespace gpulog::kernels::gpu {

/// Numbers per group of words.
constexpr std::uint32_t group_numbers = wave_size * word_bits;
/// Numbers of one group, buffered so that lanes store adjacent results.
using staged_numbers = std::uint16_t[group_numbers];

[[nodiscard]] __device__ inline bool has_bit(const std::uint32_t* row, std::uint32_t number) {
  return (*static_cast<const volatile std::uint32_t*>(row + number / word_bits) >> number % word_bits & 1) != 0;
}
/// @return whether the bit was unset
__device__ inline bool set_bit(std::uint32_t* row, std::uint32_t number) {
  const std::uint32_t bit = 1U << number % word_bits;
  return (atomicOr(row + number / word_bits, bit) & bit) == 0;
}

/// All lanes: lists the bits of a group (one word per lane) as ascending numbers within the group.
/// @param before number of bits in lower lanes
__device__ inline void list_group(std::uint32_t bits, std::uint32_t before, std::uint16_t* staged) {
  const std::uint32_t lane = backend::gpu::lane();
  const backend::gpu::lane_mask words = backend::gpu::ballot(bits != 0);
  if (backend::gpu::count_bits(words) <= backend::gpu::greatest_of_lanes(backend::gpu::count_bits(bits))) {
    // Few words with many bits: one lane per bit.
    for (backend::gpu::lane_mask left = words; left != 0; left &= left - 1) {
      const unsigned owner = backend::gpu::lowest_bit(left);
      const std::uint32_t word_of = backend::gpu::shuffle(bits, owner);
      const std::uint32_t begin = backend::gpu::shuffle(before, owner);
      if (lane < word_bits && (word_of >> lane & 1) != 0) {
        const std::uint32_t lower = word_of & ((1U << lane) - 1);
        staged[begin + backend::gpu::count_bits(lower)] = static_cast<std::uint16_t>(owner * word_bits + lane);
      }
    }
  } else {
    for (std::uint32_t left = bits; left != 0; left &= left - 1)
      staged[before++] = static_cast<std::uint16_t>(lane * word_bits + backend::gpu::lowest_bit(left));
  }
  backend::gpu::wave_barrier();
}

}  // namespace gpulog::kernels::gpu
