#pragma once

#include <cstdint>

#include "backend/gpu/wave.hpp"
#include "kernels/join/wave_share.cuh"
#include "kernels/search/search_sequence.hpp"
#include "storage/relation/views.hpp"

/// Decomposed fixpoints (kernels/search/decomposed_task.hpp, numbered_task.hpp): a block searches from one invariant,
/// with a bitmap of visited numbers in shared memory, or in global memory if shared memory is too small. Numbers are
/// values, or stand for values.
namespace gpulog::kernels::gpu {

using storage::row_range;
using storage::gpu::run_view;

/// One run of one step: the index to look up, and the successors.
struct step_run {
  run_view view;
  const word* values;
};

/// A run with a direct table from values to row ranges: a lookup needs nothing else.
struct direct_run {
  const std::uint32_t* direct;
  std::uint64_t direct_size;
  const word* values;

  [[nodiscard]] __device__ row_range find(word value) const {
    if (value >= direct_size - 1) return {};
    return {direct[value], direct[value + 1ULL] - direct[value]};
  }
};

/// The output of a member.
struct search_member_view {
  static constexpr std::uint32_t most_columns = 16;
  std::uint32_t begin = 0;  ///< numbers [begin, begin + size)
  std::uint32_t size = 0;
  const word* invariants = nullptr;  ///< [invariant column][invariants]
  const word* nodes = nullptr;       ///< [node column][size]; null: a number is its value
  std::uint32_t invariant_columns = 0;
  std::uint32_t node_columns = 0;
  word* out[most_columns] = {};  ///< invariant columns, then node columns
  std::uint64_t capacity = 0;    ///< in rows
};

struct search_arguments {
  static constexpr std::uint32_t most_members = 16;
  // The first nodes by invariant: invariant p has [first[p], first[p + 1]).
  const std::uint32_t* first = nullptr;
  const word* starts = nullptr;
  search_sequence invariants;
  /// The runs of the steps. A few runs with direct tables are passed as kernel arguments, which need no loads: small
  /// searches mostly wait for loads.
  static constexpr std::uint32_t most_direct = 4;
  direct_run direct_runs[most_direct] = {};
  const step_run* runs = nullptr;
  std::uint32_t run_count = 0;
  std::uint32_t bitmap_words = 0;
  std::uint32_t* bitmaps = nullptr;  ///< [block][bitmap_words], zero; null: in shared memory
  word* queues = nullptr;            ///< [block][numbers]
  std::uint64_t numbers = 0;
  const search_member_view* members = nullptr;
  std::uint32_t member_count = 0;
  bool all_of_one = false;  ///< whether every number is a node of the single member
  /// By member: reserved rows. A search reserves rows whether they fit or not; if not, the search keeps the places and
  /// runs again after the columns have grown.
  unsigned long long* rows = nullptr;
  unsigned long long* places = nullptr;  ///< [invariant][member]: places of searches without space
  struct totals {
    unsigned long long next;  ///< next place of the sequence or list
    unsigned long long candidates;
    unsigned long long missing;  ///< number of searches without space
    unsigned iterations;
  }* counts = nullptr;
  std::uint32_t* missing = nullptr;  ///< the searches without space
};

/// Appends the new values of a wave to the queue. All lanes call this.
__device__ inline void visit(std::uint32_t* seen, word* queue, std::uint32_t* tail, bool is_there, word value) {
  bool fresh = false;
  if (is_there) {
    std::uint32_t& bits = seen[value / word_bits];
    const std::uint32_t bit = 1U << (value % word_bits);
    // Most values have been seen; a plain load costs less than an atomic.
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

/// Visits all matches of the lanes' values, shared evenly among the lanes.
__device__ inline std::uint32_t expand_wave(row_range range, const word* values, std::uint32_t* seen, word* queue,
                                            std::uint32_t* tail) {
  share_ranges<1>(
      range.first, range.count, [&](std::uint32_t position) { return values[position]; },
      [&](bool is_there, word next) { visit(seen, queue, tail, is_there, next); });
  return range.count;
}

/// Processes the growing queue level by level; a level is the content of the queue when the level starts. All threads
/// of the block call this after a barrier.
/// @param expand (has_value, value): called by all lanes of a wave, each with or without a value
/// @return the number of levels
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
    __syncthreads();  // all threads read the end before the queue grows
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

/// Counts the queue's numbers by member. All threads call this.
__device__ inline void count_members(const search_arguments& arguments, const word* queue, std::uint32_t end,
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

__device__ inline void write_row(const search_member_view& member, std::uint64_t invariants, std::uint64_t invariant,
                                 std::uint32_t node, std::uint64_t row) {
  for (std::uint32_t c = 0; c < member.invariant_columns; ++c)
    member.out[c][row] = member.invariants[c * invariants + invariant];
  for (std::uint32_t c = 0; c < member.node_columns; ++c) {
    member.out[member.invariant_columns + c][row] =
        member.nodes == nullptr ? node : member.nodes[c * static_cast<std::uint64_t>(member.size) + node];
  }
}

/// Writes the values of a search's numbers into the reserved rows.
/// @param places by member; advanced
__device__ inline void write_rows(const search_arguments& arguments, std::uint64_t invariant, const word* queue,
                                  std::uint32_t end, unsigned long long* places) {
  if (arguments.all_of_one) {
    for (std::uint32_t i = threadIdx.x; i < end; i += blockDim.x)
      write_row(arguments.members[0], arguments.invariants.searches, invariant, queue[i], places[0] + i);
    return;
  }
  const std::uint32_t lane = backend::gpu::lane();
  for (std::uint32_t m = 0; m < arguments.member_count; ++m) {
    const search_member_view& member = arguments.members[m];
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

/// @tparam Direct whether direct_runs are given
/// @tparam Global whether bitmaps are in global memory
template <bool Direct, bool Global>
__global__ void __launch_bounds__(1024, Direct ? 2 : 1)
    search_kernel(const GPULOG_GRID_CONSTANT search_arguments arguments) {
  GPULOG_DYNAMIC_SHARED(std::uint32_t, shared_bitmap);
  GPULOG_SHARED(std::uint32_t, tail);
  GPULOG_SHARED(unsigned long long, number);
  GPULOG_SHARED(bool, has_room);
  GPULOG_SHARED(std::uint32_t[search_arguments::most_members], counted);
  GPULOG_SHARED(unsigned long long[search_arguments::most_members], places);
  std::uint32_t* const seen =
      Global ? arguments.bitmaps + static_cast<std::uint64_t>(blockIdx.x) * arguments.bitmap_words : shared_bitmap;
  word* const queue = arguments.queues + blockIdx.x * arguments.numbers;
  const std::uint32_t lane = backend::gpu::lane();
  unsigned long long candidates = 0;
  unsigned most_iterations = 0;
  for (;;) {
    __syncthreads();  // all threads have read the previous search's variables
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
