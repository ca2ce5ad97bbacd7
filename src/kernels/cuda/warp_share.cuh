#pragma once

#include <cstdint>

namespace gpulog::kernels::cuda {

/// Ranges of 32 lanes, of which each has one, shared evenly: visit(is_there, position) is called by all lanes of the
/// warp together, for 32 positions at a time. Every lane calls it; count: 0 for none.
template <class Visit>
__device__ inline void share_ranges(std::uint32_t first, std::uint32_t count, const Visit& visit) {
  const unsigned lane = threadIdx.x & 31;
  std::uint32_t sum = count;
  for (unsigned distance = 1; distance < 32; distance *= 2) {
    const std::uint32_t other = __shfl_up_sync(0xffffffffU, sum, distance);
    if (lane >= distance) sum += other;
  }
  const std::uint32_t total = __shfl_sync(0xffffffffU, sum, 31);
  const std::uint32_t before = sum - count;
  for (std::uint32_t done = 0; done < total; done += 32) {
    const std::uint32_t match = done + lane;
    // Whose match it is: the last lane that begins at or before it.
    unsigned owner = 0;
    for (unsigned half = 16; half != 0; half /= 2) {
      const std::uint32_t begin = __shfl_sync(0xffffffffU, before, owner + half);
      if (begin <= match) owner += half;
    }
    const std::uint32_t owner_first = __shfl_sync(0xffffffffU, first, owner);
    const std::uint32_t skipped = __shfl_sync(0xffffffffU, before, owner);
    visit(match < total, owner_first + (match - skipped));
  }
}

}  // namespace gpulog::kernels::cuda
