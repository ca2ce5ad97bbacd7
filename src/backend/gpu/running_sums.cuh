#pragma once

#include <cstdint>

#include "backend/gpu/block_primitives.hpp"
#include "backend/gpu/running_sums.hpp"

/// Prefix sums of computed values with one launch: a scan with decoupled look-back (Merrill and Garland, 2016). With a
/// scan of CUB, the same sums need two further launches after the kernel that computes the values.
namespace gpulog::backend::gpu {

/// Publishes the sum of a tile. All lanes of one wave call this.
/// @return the sum of all values before the tile
[[nodiscard]] __device__ inline std::uint64_t sum_before(const tile_sums& sums, std::uint64_t tile, std::uint64_t own) {
  const auto publish = [&](std::uint64_t tile_sum::*place, std::uint64_t sum, std::uint64_t whole) {
    if (lane() != 0) return;
    *static_cast<volatile std::uint64_t*>(&(sums.tiles[tile].*place)) = sum;
    __threadfence();
    *static_cast<volatile std::uint64_t*>(&sums.tiles[tile].state) = 2 * sums.launch + whole;
  };
  std::uint64_t sum = 0;
  if (tile != 0) {
    publish(&tile_sum::own, own, 0);
    // Each lane waits for one earlier tile; the wave goes back until some tile has published the sum up to its end.
    // Earlier tiles have started, because tiles have tickets.
    for (std::uint64_t end = tile;; end -= wave_size) {
      const bool is_there = lane() < end;
      tile_sum* const earlier = sums.tiles + (is_there ? end - 1 - lane() : 0);
      std::uint64_t state = 0;
      bool is_missing = is_there;
      do {
        if (is_missing) {
          state = *static_cast<volatile std::uint64_t*>(&earlier->state);
          is_missing = state / 2 != sums.launch;
          if (is_missing) pause();
        }
      } while (any_lane(is_missing));
      __threadfence();
      const bool is_whole = is_there && state % 2 == 1;
      const lane_mask whole = ballot(is_whole);
      std::uint64_t value = 0;
      if (is_there && (whole == 0 || lane() <= lowest_bit(whole))) {
        value = *static_cast<volatile std::uint64_t*>(is_whole ? &earlier->up_to_end : &earlier->own);
      }
      sum += sum_of_lanes(value);
      if (whole != 0) break;
    }
  }
  publish(&tile_sum::up_to_end, sum + own, 1);
  return sum;
}

constexpr std::uint32_t sum_threads = 256;

template <class Function>
__global__ void __launch_bounds__(sum_threads)
    sum_kernel(std::uint64_t n, Function function, std::uint64_t* out, tile_sums sums) {
  using scan = block_scan<unsigned long long, sum_threads>;
  GPULOG_SHARED(scan::storage, scratch);
  GPULOG_SHARED(std::uint64_t, number);
  GPULOG_SHARED(std::uint64_t, base);
  if (threadIdx.x == 0) number = atomicAdd(sums.tickets, 1ULL) - sums.first_ticket;
  __syncthreads();
  const std::uint64_t tile = number;
  const std::uint64_t at = tile * sum_threads + threadIdx.x;
  unsigned long long before = 0;
  unsigned long long sum = 0;
  scan::exclusive_sum(at < n ? function(at) : 0, before, sum, scratch);
  if (wave() == 0) {
    const std::uint64_t earlier = sum_before(sums, tile, sum);
    if (lane() == 0) base = earlier;
  }
  __syncthreads();
  if (at < n) out[at] = base + before;
}

/// Calls a functor once for every number below n, and stores the exclusive prefix sums of its results, in stream order.
/// @throws device_error, memory_exceeded
template <class Function>
void store_sums(stream_handle stream, running_sums& sums, std::uint64_t n, const Function& function,
                std::uint64_t* out) {
  if (n == 0) return;
  const std::uint64_t tiles = (n + sum_threads - 1) / sum_threads;
  launch(GPULOG_KERNEL(sum_kernel<Function>), {static_cast<unsigned>(tiles), sum_threads, 0, stream}, n, function, out,
         sums.next_launch(tiles));
}

}  // namespace gpulog::backend::gpu
