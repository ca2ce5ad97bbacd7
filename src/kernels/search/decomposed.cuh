#pragma once

#include <cstdint>

#include "backend/gpu/wave.hpp"
#include "kernels/join/wave_share.cuh"
#include "kernels/search/search_sequence.hpp"
#include "storage/relation/views.hpp"

/// A fixpoint that falls apart (kernels/search/decomposed.hpp): one block searches from one value of the invariant,
/// with the bitmap of the values it has seen in shared memory.
namespace gpulog::kernels::gpu {

using storage::row_range;
using storage::gpu::run_view;

/// One run of one step: where to look a value up, and what follows it.
struct step_run {
  run_view view;
  const word* values;
};

/// A run whose values number a table of where their rows begin: all that looking one up takes.
struct direct_run {
  const std::uint32_t* direct;
  std::uint64_t direct_size;
  const word* values;

  [[nodiscard]] __device__ row_range find(word value) const {
    if (value >= direct_size - 1) return {};
    return {direct[value], direct[value + 1ULL] - direct[value]};
  }
};

struct search_arguments {
  // The first tuples, sorted by invariant: those of group g are [first[g], first[g + 1]).
  const word* invariants = nullptr;  ///< by group
  const std::uint32_t* first = nullptr;
  const word* starts = nullptr;
  search_sequence groups;
  const step_run* runs = nullptr;
  std::uint32_t run_count = 0;
  /// The runs, where they are few and all have such tables: as arguments they cost no loads of their own, and small
  /// searches do little else than wait for loads.
  static constexpr std::uint32_t most_direct = 4;
  direct_run direct_runs[most_direct] = {};
  std::uint32_t bitmap_words = 0;
  word* queues = nullptr;  ///< [block][values]
  std::uint64_t values = 0;
  // Results.
  word* invariant_column = nullptr;
  word* moving_column = nullptr;
  std::uint64_t capacity = 0;
  struct totals {
    unsigned long long next;  ///< place of the sequence or list
    unsigned long long rows;
    unsigned long long candidates;
    unsigned long long first_without_room;  ///< where a row would have had to go; more than rows: nowhere
    unsigned long long missing_rows;        ///< of the groups that found no room
    unsigned long long missing_groups;
    unsigned iterations;
  }* counts = nullptr;
  std::uint32_t* missing = nullptr;  ///< which they are
};

/// Appends the values of a wave that are new to the queue: every lane calls it.
__device__ inline void visit(std::uint32_t* seen, word* queue, std::uint32_t* tail, bool is_there, word value) {
  bool fresh = false;
  if (is_there) {
    std::uint32_t& bits = seen[value / word_bits];
    const std::uint32_t bit = 1U << (value % word_bits);
    // Most values have been seen; a plain load tells, and costs less than an atomic.
    if ((*static_cast<volatile std::uint32_t*>(&bits) & bit) == 0) fresh = (atomicOr(&bits, bit) & bit) == 0;
  }
  const backend::gpu::lane_mask winners = backend::gpu::ballot(fresh);
  if (winners == 0) return;
  const unsigned lane = backend::gpu::lane();
  std::uint32_t place = 0;
  if (lane == 0) place = atomicAdd(tail, backend::gpu::count_bits(winners));
  place = backend::gpu::shuffle(place, 0);
  if (fresh) queue[place + backend::gpu::rank_in(winners)] = value;
}

/// All matches of the lanes' values, shared evenly among the lanes.
__device__ inline std::uint32_t expand_wave(row_range range, const word* values, std::uint32_t* seen, word* queue,
                                            std::uint32_t* tail) {
  share_ranges<1>(
      range.first, range.count, [&](std::uint32_t position) { return values[position]; },
      [&](bool is_there, word next) { visit(seen, queue, tail, is_there, next); });
  return range.count;
}

/// Goes through the queue, which grows, level by level: what was there when the level began. All threads of the block
/// call it, behind a barrier. @param expand (has_value, value): called by all lanes of a wave, each with a value or
/// without
/// @return how many levels there were
template <class Expand>
__device__ inline unsigned search_levels(const word* queue, const std::uint32_t* tail, const Expand& expand) {
  const std::uint32_t wave = backend::gpu::wave();
  const std::uint32_t waves = blockDim.x / backend::gpu::wave_size;
  const std::uint32_t lane = backend::gpu::lane();
  unsigned iterations = 0;
  std::uint32_t begin = 0;
  std::uint32_t end = *tail;
  while (begin < end) {
    ++iterations;
    __syncthreads();  // all know the end before the queue grows
    for (std::uint32_t base = begin + wave * backend::gpu::wave_size; base < end;
         base += waves * backend::gpu::wave_size) {
      const bool has_value = base + lane < end;
      expand(has_value, has_value ? queue[base + lane] : 0);
    }
    __syncthreads();
    begin = end;
    end = *tail;
  }
  return iterations;
}

/// @tparam Direct whether direct_runs are given
template <bool Direct>
__global__ void __launch_bounds__(1024, Direct ? 2 : 1)
    search_kernel(const GPULOG_GRID_CONSTANT search_arguments arguments) {
  GPULOG_DYNAMIC_SHARED(std::uint32_t, seen);
  GPULOG_SHARED(std::uint32_t, tail);
  GPULOG_SHARED(unsigned long long, number);
  GPULOG_SHARED(unsigned long long, row);
  word* const queue = arguments.queues + blockIdx.x * arguments.values;
  const std::uint32_t wave = backend::gpu::wave();
  const std::uint32_t waves = blockDim.x / backend::gpu::wave_size;
  const std::uint32_t lane = backend::gpu::lane();
  unsigned long long candidates = 0;
  unsigned most_iterations = 0;
  for (;;) {
    __syncthreads();  // all have read what the last search left
    if (threadIdx.x == 0) {
      number = arguments.groups.first + atomicAdd(&arguments.counts->next, 1ULL);
      tail = 0;
    }
    for (std::uint32_t i = threadIdx.x; i < arguments.bitmap_words; i += blockDim.x) seen[i] = 0;
    __syncthreads();
    if (number >= arguments.groups.last) break;
    const std::uint64_t group = arguments.groups.at(number);
    const std::uint32_t start_end = arguments.first[group + 1];
    for (std::uint32_t base = arguments.first[group] + wave * backend::gpu::wave_size; base < start_end;
         base += waves * backend::gpu::wave_size) {
      const bool is_there = base + lane < start_end;
      visit(seen, queue, &tail, is_there, is_there ? arguments.starts[base + lane] : 0);
    }
    __syncthreads();
    const unsigned iterations = search_levels(queue, &tail, [&](bool has_value, word value) {
      for (std::uint32_t r = 0; r < arguments.run_count; ++r) {
        row_range range;
        if constexpr (Direct) {
          if (has_value) range = arguments.direct_runs[r].find(value);
          candidates += expand_wave(range, arguments.direct_runs[r].values, seen, queue, &tail);
        } else {
          const step_run& step = arguments.runs[r];
          if (has_value) range = step.view.find([value](std::uint32_t) { return value; });
          candidates += expand_wave(range, step.values, seen, queue, &tail);
        }
      }
    });
    const std::uint32_t end = tail;
    most_iterations = max(most_iterations, iterations);
    if (threadIdx.x == 0) {
      // Rows are taken by an addition (a compare-and-swap that hundreds of blocks try costs each of them hundreds of
      // tries). Whoever finds no room gives up; what was taken before the first of them is without gaps.
      row = atomicAdd(&arguments.counts->rows, static_cast<unsigned long long>(end));
      if (row + end > arguments.capacity) {
        atomicMin(&arguments.counts->first_without_room, row);
        atomicAdd(&arguments.counts->missing_rows, static_cast<unsigned long long>(end));
        arguments.missing[atomicAdd(&arguments.counts->missing_groups, 1ULL)] = static_cast<std::uint32_t>(group);
        row = ~0ULL;
      }
    }
    __syncthreads();
    if (row == ~0ULL) continue;
    const word invariant = arguments.invariants[group];
    for (std::uint32_t i = threadIdx.x; i < end; i += blockDim.x) {
      arguments.invariant_column[row + i] = invariant;
      arguments.moving_column[row + i] = queue[i];
    }
  }
  atomicAdd(&arguments.counts->candidates, candidates);
  if (threadIdx.x == 0) atomicMax(&arguments.counts->iterations, most_iterations);
}

}  // namespace gpulog::kernels::gpu
