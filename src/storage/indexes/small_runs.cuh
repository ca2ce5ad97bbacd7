#pragma once

#include "backend/gpu/block_primitives.hpp"
#include "storage/indexes/small_runs.hpp"

/// Building a small run with one block.
namespace gpulog::storage::gpu {

/// Shared memory of a block that builds small runs, and its size.
struct small_run_scratch {
  static constexpr std::uint32_t threads = 512;
  static constexpr std::uint32_t items = small_run::most_rows / threads;
  using sort = backend::gpu::block_sort<word, threads, items, std::uint16_t>;
  using scan = backend::gpu::block_scan<std::uint32_t, threads>;
  using reduce = backend::gpu::block_union<word, threads>;

  union {
    sort::storage sorted;
    scan::storage scanned;
    reduce::storage reduced;
  };
  std::uint16_t order[small_run::most_rows];
};

/// Sorts row numbers by the columns: Algorithm 1, a stable sort from the last column to the first.
__device__ inline void radix_sort_rows(const small_run& run, std::uint16_t* sorted, small_run_scratch& scratch) {
  constexpr std::uint32_t items = small_run_scratch::items;
  GPULOG_SHARED(word, used_bits);
  std::uint16_t rows[items];
  word keys[items];
  for (std::uint32_t k = 0; k < items; ++k) rows[k] = static_cast<std::uint16_t>(threadIdx.x * items + k);
  for (std::uint32_t c = run.sorted_columns; c-- > 0;) {
    word used = 0;
    for (std::uint32_t k = 0; k < items; ++k) {
      // Positions after the last row get the largest key and stay last, because the sort is stable.
      keys[k] = rows[k] < run.rows ? run.order[c][rows[k]] : UINT32_MAX;
      if (rows[k] < run.rows) used |= keys[k];
    }
    const word all = small_run_scratch::reduce::of(used, scratch.reduced);
    if (threadIdx.x == 0) used_bits = all;
    __syncthreads();
    // One bit more than used, which is set after the last row.
    const unsigned bits = min(32U, backend::gpu::bit_width_of(used_bits) + 1);
    small_run_scratch::sort::sort(keys, rows, 0, bits, scratch.sorted);
    __syncthreads();
  }
  for (std::uint32_t k = 0; k < items; ++k) sorted[threadIdx.x * items + k] = rows[k];
  __syncthreads();
}

/// The same for at most one row per thread: each thread counts the smaller rows, without barriers.
__device__ inline void rank_rows(const small_run& run, std::uint16_t* sorted) {
  const std::uint32_t own = threadIdx.x;
  if (own < run.rows) {
    std::uint32_t rank = 0;
    for (std::uint32_t other = 0; other < run.rows; ++other) {
      bool is_before = other < own;
      for (std::uint32_t c = 0; c < run.sorted_columns; ++c) {
        const word left = run.order[c][other];
        const word right = run.order[c][own];
        if (left == right) continue;
        is_before = left < right;
        break;
      }
      rank += is_before ? 1 : 0;
    }
    sorted[rank] = static_cast<std::uint16_t>(own);
  }
  __syncthreads();
}

__device__ inline void build_small_level(const small_run& run, const small_run::level& level,
                                         const std::uint16_t* sorted, small_run_scratch& scratch) {
  constexpr std::uint32_t threads = small_run_scratch::threads;
  constexpr std::uint32_t items = small_run_scratch::items;
  for (std::uint64_t slot = threadIdx.x; slot < level.table_size; slot += threads) level.table[slot] = {0, 0};
  std::uint32_t starts[items];
  for (std::uint32_t k = 0; k < items; ++k) {
    const std::uint32_t i = threadIdx.x * items + k;
    bool is_start = i == 0 && run.rows != 0;
    for (std::uint32_t c = 0; c < level.length && i != 0 && i < run.rows; ++c) {
      is_start = is_start || run.order[c][sorted[i]] != run.order[c][sorted[i - 1]];
    }
    starts[k] = is_start ? 1 : 0;
  }
  std::uint32_t groups[items];
  std::uint32_t count = 0;
  small_run_scratch::scan::exclusive_sum(starts, groups, count, scratch.scanned);
  for (std::uint32_t k = 0; k < items; ++k) {
    if (starts[k] == 0) continue;
    const std::uint32_t i = threadIdx.x * items + k;
    level.first[groups[k]] = i;
    for (std::uint32_t c = 0; c < level.length; ++c) level.keys[c * run.rows + groups[k]] = run.order[c][sorted[i]];
  }
  if (threadIdx.x == 0) {
    level.first[count] = run.rows;
    if (level.count != nullptr) *level.count = count;
  }
  __syncthreads();
  level_view view;
  view.length = level.length;
  for (std::uint32_t g = threadIdx.x; g < count; g += threads) {
    const std::uint64_t code = view.code([&](std::uint32_t c) { return level.keys[c * run.rows + g]; });
    const std::uint32_t first = level.first[g];
    const std::uint64_t range = level.length <= 2 ? pack(level.first[g + 1] - first, first) : pack(1, g);
    std::uint64_t at = scale(mix(code), level.table_size);
    while (atomicCAS(reinterpret_cast<unsigned long long*>(&level.table[at].range), 0ULL, range) != 0) {
      at = at + 1 == level.table_size ? 0 : at + 1;
    }
    level.table[at].code = code;
  }
  __syncthreads();
}

/// Builds a run. All threads of the block call this, with `run` in shared memory. The results are visible after the
/// next barrier.
__device__ inline void build_small_run(const small_run& run, small_run_scratch& scratch) {
  std::uint16_t* const sorted = scratch.order;
  if (run.rows <= small_run_scratch::threads) {
    rank_rows(run, sorted);
  } else {
    radix_sort_rows(run, sorted, scratch);
  }
  for (std::uint32_t l = 0; l < run.level_count; ++l) build_small_level(run, run.levels[l], sorted, scratch);
  for (std::uint32_t s = 0; s < run.stored_columns; ++s) {
    for (std::uint32_t i = threadIdx.x; i < run.rows; i += small_run_scratch::threads) {
      run.stored[s * run.rows + i] = run.copied[s][sorted[i]];
    }
  }
}

}  // namespace gpulog::storage::gpu
