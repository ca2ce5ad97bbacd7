#pragma once

#include <algorithm>
#include <cstdint>

#include "backend/cuda/error.hpp"
#include "storage/cuda/hisa_workspace.hpp"

/// Kernels that all parts of a hash-indexed sorted array use.
namespace gpulog::storage::cuda {

constexpr unsigned hisa_threads = 256;

template <class Function>
__global__ void __launch_bounds__(hisa_threads) hisa_for_each_kernel(std::uint64_t n, Function function) {
  const std::uint64_t stride = static_cast<std::uint64_t>(gridDim.x) * hisa_threads;
  for (std::uint64_t i = static_cast<std::uint64_t>(blockIdx.x) * hisa_threads + threadIdx.x; i < n; i += stride) {
    function(i);
  }
}

/// Runs a functor for every number below n.
template <class Function>
void hisa_for_each(const hisa_workspace& space, std::uint64_t n, Function function) {
  if (n == 0) return;
  const std::uint64_t most_blocks = space.context.multiprocessors() * 64ULL;
  const auto blocks = static_cast<unsigned>(std::min((n + hisa_threads - 1) / hisa_threads, most_blocks));
  hisa_for_each_kernel<<<blocks, hisa_threads, 0, space.stream()>>>(n, function);
  GPULOG_CUDA_TRY(cudaGetLastError());
}

/// Elements of a merged sequence that a block writes.
constexpr std::uint32_t merge_tile = 4096;

/// The path merge of two sorted sequences when the rank of each fresh element among the old ones is known, so that
/// nothing is compared: fresh element i goes to ranks[i] + i, the old ones fill the places between. A block marks the
/// places of fresh elements in its tile, and what is before an element tells where it comes from; reads and writes are
/// in sequence.
/// @param splits hisa_workspace::split
template <class Old, class Fresh>
__global__ void __launch_bounds__(hisa_threads)
    merge_kernel(const std::uint32_t* ranks, const std::uint32_t* splits, std::uint64_t merged, Old old_at,
                 Fresh fresh_at, word* out) {
  constexpr std::uint32_t mark_words = merge_tile / 32;
  constexpr std::uint32_t words_a_lane = mark_words / 32;
  __shared__ std::uint32_t marks[mark_words];
  __shared__ std::uint32_t before[mark_words];
  const std::uint64_t begin = static_cast<std::uint64_t>(blockIdx.x) * merge_tile;
  const std::uint64_t first = splits[blockIdx.x];
  const std::uint64_t last = splits[blockIdx.x + 1];
  if (threadIdx.x < mark_words) marks[threadIdx.x] = 0;
  __syncthreads();
  for (std::uint64_t i = first + threadIdx.x; i < last; i += hisa_threads) {
    const auto at = static_cast<std::uint32_t>(ranks[i] + i - begin);
    atomicOr(&marks[at / 32], 1U << (at % 32));
  }
  __syncthreads();
  if (threadIdx.x < 32) {
    std::uint32_t counts[words_a_lane];
    std::uint32_t own = 0;
    for (std::uint32_t k = 0; k < words_a_lane; ++k) {
      counts[k] = own;
      own += __popc(marks[threadIdx.x * words_a_lane + k]);
    }
    std::uint32_t sum = own;
    for (unsigned distance = 1; distance < 32; distance *= 2) {
      const std::uint32_t lower = __shfl_up_sync(0xffffffffU, sum, distance);
      if (threadIdx.x >= distance) sum += lower;
    }
    for (std::uint32_t k = 0; k < words_a_lane; ++k) {
      before[threadIdx.x * words_a_lane + k] = sum - own + counts[k];
    }
  }
  __syncthreads();
  // All loads before the first store, so that they are under way together.
  constexpr std::uint32_t rounds = merge_tile / hisa_threads;
  word values[rounds];
#pragma unroll
  for (std::uint32_t k = 0; k < rounds; ++k) {
    const std::uint32_t at = k * hisa_threads + threadIdx.x;
    const std::uint64_t place = begin + at;
    const std::uint32_t mark = marks[at / 32];
    const std::uint32_t bit = at % 32;
    const std::uint64_t fresh = first + before[at / 32] + __popc(mark & ((1U << bit) - 1));
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
  merge_kernel<<<blocks, hisa_threads, 0, space.stream()>>>(ranks, splits, merged, old_at, fresh_at, out);
  GPULOG_CUDA_TRY(cudaGetLastError());
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

}  // namespace gpulog::storage::cuda
