#pragma once

#include <algorithm>
#include <cstdint>

#include "backend/gpu/for_each.hpp"
#include "backend/gpu/occupancy.hpp"
#include "backend/gpu/wave.hpp"
#include "storage/hisa/hisa_workspace.hpp"

/// Kernels common to all parts of a hash-indexed sorted array.
namespace gpulog::storage::gpu {

constexpr unsigned hisa_threads = 256;

/// Runs a functor for every number below n.
template <class Function>
void hisa_for_each(const hisa_workspace& space, std::uint64_t n, const Function& function) {
  backend::gpu::for_each(space.stream(), n, function,
                         space.context.full_blocks(backend::gpu::for_each_threads) *
                             std::uint64_t{backend::gpu::launch_factors::elements});
}

/// Elements of a merged sequence per block.
constexpr std::uint32_t merge_tile = 4096;

/// Merges two sorted sequences whose ranks are known, so that no elements are compared: fresh element i goes to
/// ranks[i] + i, and old elements fill the remaining places. A block marks the places of fresh elements in its tile;
/// the number of marks before a place gives the source of its element. Reads and writes are sequential.
/// @param splits from hisa_workspace::split
template <class Old, class Fresh>
__global__ void __launch_bounds__(hisa_threads)
    merge_kernel(const std::uint32_t* ranks, const std::uint32_t* splits, std::uint64_t merged, Old old_at,
                 Fresh fresh_at, word* out) {
  constexpr std::uint32_t mark_words = merge_tile / word_bits;
  constexpr std::uint32_t words_a_lane = mark_words / backend::gpu::wave_size;
  GPULOG_SHARED(std::uint32_t[mark_words], marks);
  GPULOG_SHARED(std::uint32_t[mark_words], before);
  const std::uint64_t begin = static_cast<std::uint64_t>(blockIdx.x) * merge_tile;
  const std::uint64_t first = splits[blockIdx.x];
  const std::uint64_t last = splits[blockIdx.x + 1];
  if (threadIdx.x < mark_words) marks[threadIdx.x] = 0;
  __syncthreads();
  for (std::uint64_t i = first + threadIdx.x; i < last; i += hisa_threads) {
    const auto at = static_cast<std::uint32_t>(ranks[i] + i - begin);
    atomicOr(&marks[at / word_bits], 1U << (at % word_bits));
  }
  __syncthreads();
  if (threadIdx.x < backend::gpu::wave_size) {
    std::uint32_t counts[words_a_lane];
    std::uint32_t own = 0;
    for (std::uint32_t k = 0; k < words_a_lane; ++k) {
      counts[k] = own;
      own += backend::gpu::count_bits(marks[threadIdx.x * words_a_lane + k]);
    }
    const std::uint32_t sum = backend::gpu::inclusive_sum_of_lanes(own);
    for (std::uint32_t k = 0; k < words_a_lane; ++k) {
      before[threadIdx.x * words_a_lane + k] = sum - own + counts[k];
    }
  }
  __syncthreads();
  // All loads before the first store, so that the loads overlap.
  constexpr std::uint32_t rounds = merge_tile / hisa_threads;
  word values[rounds];
#pragma unroll
  for (std::uint32_t k = 0; k < rounds; ++k) {
    const std::uint32_t at = k * hisa_threads + threadIdx.x;
    const std::uint64_t place = begin + at;
    const std::uint32_t mark = marks[at / word_bits];
    const std::uint32_t bit = at % word_bits;
    const std::uint64_t fresh = first + before[at / word_bits] + backend::gpu::count_bits(mark & ((1U << bit) - 1));
    values[k] = 0;
    if (place < merged) values[k] = ((mark >> bit) & 1) != 0 ? fresh_at(fresh) : old_at(place - fresh);
  }
#pragma unroll
  for (std::uint32_t k = 0; k < rounds; ++k) {
    const std::uint64_t place = begin + k * hisa_threads + threadIdx.x;
    if (place < merged) out[place] = values[k];
  }
}

template <class Old, class Fresh>
void merge_by_rank(const hisa_workspace& space, const std::uint32_t* ranks, const std::uint32_t* splits,
                   std::uint64_t merged, Old old_at, Fresh fresh_at, word* out) {
  if (merged == 0) return;
  const auto blocks = static_cast<unsigned>((merged + merge_tile - 1) / merge_tile);
  backend::gpu::launch(GPULOG_KERNEL(merge_kernel<Old, Fresh>), {blocks, hisa_threads, 0, space.stream()}, ranks,
                       splits, merged, old_at, fresh_at, out);
}

/// Elements of an array, for merge_by_rank.
struct array_element {
  const word* values;
  __device__ word operator()(std::uint64_t i) const { return values[i]; }
};
/// Consecutive numbers.
struct counted_element {
  word first;
  __device__ word operator()(std::uint64_t i) const { return first + static_cast<word>(i); }
};

}  // namespace gpulog::storage::gpu
