#pragma once

#include <cstdint>

#include "backend/gpu/wave.hpp"
#include "kernels/search/decomposed.cuh"

/// A fixpoint that falls apart, over numbers (kernels/search/numbered_task.hpp): one block searches from one invariant,
/// with the bitmap of the numbers it has seen in shared memory, or in global memory where that is too small.
namespace gpulog::kernels::gpu {

/// Where a member's rows go.
struct numbered_member_view {
  static constexpr std::uint32_t most_columns = 16;
  std::uint32_t begin = 0;  ///< numbers [begin, begin + size)
  std::uint32_t size = 0;
  const word* invariants = nullptr;  ///< [invariant column][invariants]
  const word* nodes = nullptr;       ///< [node column][size]
  std::uint32_t invariant_columns = 0;
  std::uint32_t node_columns = 0;
  word* out[most_columns] = {};  ///< invariant columns, then node columns
  std::uint64_t capacity = 0;    ///< rows
};

struct numbered_arguments {
  static constexpr std::uint32_t most_members = 16;
  // The first nodes by invariant: those of invariant p are [first[p], first[p + 1]).
  const std::uint32_t* first = nullptr;
  const word* starts = nullptr;
  search_sequence invariants;
  direct_run steps = {};
  std::uint32_t bitmap_words = 0;
  std::uint32_t* bitmaps = nullptr;  ///< [block][bitmap_words], zero; null: in shared memory
  word* queues = nullptr;            ///< [block][numbers]
  std::uint64_t numbers = 0;
  const numbered_member_view* members = nullptr;
  std::uint32_t member_count = 0;
  bool all_of_one = false;  ///< every number is a node of the only member
  /// By member: rows taken. A search takes rows whether there is room or not; if not, it keeps them for when there is.
  unsigned long long* rows = nullptr;
  unsigned long long* places = nullptr;  ///< [invariant][member]: of searches that found no room
  struct totals {
    unsigned long long next;  ///< place of the sequence or list
    unsigned long long candidates;
    unsigned long long missing;  ///< searches that found no room
    unsigned iterations;
  }* counts = nullptr;
  std::uint32_t* missing = nullptr;  ///< which they are
};

/// How many of the queue's numbers each member has. All threads call it.
__device__ inline void count_members(const numbered_arguments& arguments, const word* queue, std::uint32_t end,
                                     std::uint32_t* counted) {
  if (arguments.all_of_one) {
    if (threadIdx.x == 0) counted[0] = end;
    __syncthreads();
    return;
  }
  for (std::uint32_t m = threadIdx.x; m < arguments.member_count; m += blockDim.x) counted[m] = 0;
  __syncthreads();
  for (std::uint32_t m = 0; m < arguments.member_count; ++m) {
    const std::uint32_t begin = arguments.members[m].begin;
    const std::uint32_t size = arguments.members[m].size;
    std::uint32_t own = 0;
    for (std::uint32_t i = threadIdx.x; i < end; i += blockDim.x) own += queue[i] - begin < size ? 1 : 0;
    own = backend::gpu::sum_of_lanes(own);
    if (backend::gpu::lane() == 0 && own != 0) atomicAdd(counted + m, own);
  }
  __syncthreads();
}

__device__ inline void write_row(const numbered_member_view& member, std::uint64_t invariants, std::uint64_t invariant,
                                 std::uint32_t node, std::uint64_t row) {
  for (std::uint32_t c = 0; c < member.invariant_columns; ++c)
    member.out[c][row] = member.invariants[c * invariants + invariant];
  for (std::uint32_t c = 0; c < member.node_columns; ++c) {
    member.out[member.invariant_columns + c][row] = member.nodes[c * static_cast<std::uint64_t>(member.size) + node];
  }
}

/// A search's numbers become values in the rows that it has taken. @param places by member; moved on
__device__ inline void write_rows(const numbered_arguments& arguments, std::uint64_t invariant, const word* queue,
                                  std::uint32_t end, unsigned long long* places) {
  if (arguments.all_of_one) {
    for (std::uint32_t i = threadIdx.x; i < end; i += blockDim.x)
      write_row(arguments.members[0], arguments.invariants.searches, invariant, queue[i], places[0] + i);
    return;
  }
  const std::uint32_t lane = backend::gpu::lane();
  for (std::uint32_t m = 0; m < arguments.member_count; ++m) {
    const numbered_member_view& member = arguments.members[m];
    for (std::uint32_t base = threadIdx.x - lane; base < end; base += blockDim.x) {
      const std::uint32_t node = base + lane < end ? queue[base + lane] - member.begin : UINT32_MAX;
      const bool is_own = node < member.size;
      const backend::gpu::lane_mask owners = backend::gpu::ballot(is_own);
      if (owners == 0) continue;
      unsigned long long row = 0;
      if (lane == 0) row = atomicAdd(places + m, static_cast<unsigned long long>(backend::gpu::count_bits(owners)));
      row = backend::gpu::shuffle(row, 0) + backend::gpu::rank_in(owners);
      if (is_own) write_row(member, arguments.invariants.searches, invariant, node, row);
    }
  }
}

/// @tparam Global whether bitmaps are in global memory
template <bool Global>
__global__ void __launch_bounds__(1024, 2) numbered_kernel(const GPULOG_GRID_CONSTANT numbered_arguments arguments) {
  GPULOG_DYNAMIC_SHARED(std::uint32_t, shared_bitmap);
  GPULOG_SHARED(std::uint32_t, tail);
  GPULOG_SHARED(unsigned long long, number);
  GPULOG_SHARED(bool, has_room);
  GPULOG_SHARED(std::uint32_t[numbered_arguments::most_members], counted);
  GPULOG_SHARED(unsigned long long[numbered_arguments::most_members], places);
  std::uint32_t* const seen =
      Global ? arguments.bitmaps + static_cast<std::uint64_t>(blockIdx.x) * arguments.bitmap_words : shared_bitmap;
  word* const queue = arguments.queues + blockIdx.x * arguments.numbers;
  const std::uint32_t lane = backend::gpu::lane();
  unsigned long long candidates = 0;
  unsigned most_iterations = 0;
  for (;;) {
    __syncthreads();  // all have read what the last search left
    if (threadIdx.x == 0) {
      number = arguments.invariants.first + atomicAdd(&arguments.counts->next, 1ULL);
      tail = 0;
    }
    __syncthreads();
    if (number >= arguments.invariants.last) break;
    if constexpr (!Global) {
      for (std::uint32_t i = threadIdx.x; i < arguments.bitmap_words; i += blockDim.x) seen[i] = 0;
    }
    __syncthreads();
    const std::uint64_t invariant = arguments.invariants.at(number);
    const std::uint32_t start_end = arguments.first[invariant + 1];
    for (std::uint32_t base = arguments.first[invariant] + threadIdx.x - lane; base < start_end; base += blockDim.x) {
      const bool is_there = base + lane < start_end;
      visit(seen, queue, &tail, is_there, is_there ? arguments.starts[base + lane] : 0);
    }
    __syncthreads();
    const unsigned iterations = search_levels(queue, &tail, [&](bool has_value, word value) {
      row_range range;
      if (has_value) range = arguments.steps.find(value);
      candidates += expand_wave(range, arguments.steps.values, seen, queue, &tail);
    });
    const std::uint32_t end = tail;
    most_iterations = max(most_iterations, iterations);
    count_members(arguments, queue, end, counted);
    if (threadIdx.x == 0) {
      bool fits = true;
      for (std::uint32_t m = 0; m < arguments.member_count; ++m) {
        unsigned long long& kept = arguments.places[invariant * arguments.member_count + m];
        places[m] = arguments.invariants.listed != nullptr
                        ? kept
                        : atomicAdd(arguments.rows + m, static_cast<unsigned long long>(counted[m]));
        fits = fits && (counted[m] == 0 || places[m] + counted[m] <= arguments.members[m].capacity);
      }
      for (std::uint32_t m = 0; m < arguments.member_count && !fits; ++m)
        arguments.places[invariant * arguments.member_count + m] = places[m];
      if (!fits) arguments.missing[atomicAdd(&arguments.counts->missing, 1ULL)] = static_cast<std::uint32_t>(invariant);
      has_room = fits;
    }
    __syncthreads();
    if (has_room) write_rows(arguments, invariant, queue, end, places);
    if constexpr (Global) {
      __syncthreads();
      for (std::uint32_t i = threadIdx.x; i < end; i += blockDim.x) seen[queue[i] / word_bits] = 0;
    }
  }
  atomicAdd(&arguments.counts->candidates, candidates);
  if (threadIdx.x == 0) atomicMax(&arguments.counts->iterations, most_iterations);
}

}  // namespace gpulog::kernels::gpu
