#pragma once

#include <cstdint>

#include "kernels/join/wave_share.cuh"
#include "kernels/search/row_bits.cuh"
#include "kernels/search/takeover.hpp"

/// The second of two kernels: a block for each source, whose result is a row of bits in the block's memory. Where a
/// search meets a vertex whose row is complete, it takes the row over and goes no further there. A row that is not
/// complete is searched through: nobody waits, so vertices come in any order, and cycles do no harm.
namespace gpulog::kernels::gpu {

/// What a search has beside its row and its queue. In the block's memory.
struct long_search {
  static constexpr std::uint32_t most_met = 256;
  static constexpr std::uint32_t none_met = UINT32_MAX;
  static constexpr std::uint32_t not_kept = UINT32_MAX;

  unsigned long long number;  ///< place in the list of long searches
  unsigned long long base;    ///< where its rows go
  std::uint32_t tail;         ///< of the queue
  std::uint32_t met;  ///< vertices with complete rows, of this level; from most_met on they are searched through
  std::uint32_t picked;
  std::uint32_t place;                   ///< of its row, where it is kept
  std::uint32_t used[most_map_words];    ///< bits by group: it is not zero
  std::uint32_t met_vertices[most_met];  ///< with repetitions
  unsigned long long met_rows[most_met];
};

[[nodiscard]] __device__ inline std::uint32_t size_of(unsigned long long row) {
  return static_cast<std::uint32_t>(row >> 32);
}
[[nodiscard]] __device__ inline std::uint32_t place_of(unsigned long long row) {
  return static_cast<std::uint32_t>(row);
}
[[nodiscard]] __device__ inline bool is_group_used(const long_search& own, std::uint32_t group) {
  return (own.used[group / word_bits] >> group % word_bits & 1) != 0;
}

/// A number that follows. All lanes call it. @param queue of the block
__device__ inline void visit_or_take(const takeover_arguments& arguments, std::uint32_t* row, row_steps* queue,
                                     long_search& own, bool is_there, std::uint32_t number) {
  bool fresh = false;
  row_steps steps = {};
  if (is_there && !has_bit(row, number)) {
    const row_vertex& vertex = arguments.vertices[number];
    const unsigned long long kept = backend::gpu::load_past_first_cache(&vertex.row);
    steps = {vertex.first, vertex.count};
    bool is_taken = false;
    if (kept != row_vertex::no_row && kept != row_vertex::empty_row) {
      const std::uint32_t met = atomicAdd(&own.met, 1U);
      is_taken = met < long_search::most_met;
      if (is_taken) {
        own.met_vertices[met] = number;
        own.met_rows[met] = kept;
      }
    }
    if (!is_taken) fresh = set_bit(row, number) && kept != row_vertex::empty_row;
  }
  const backend::gpu::lane_mask winners = backend::gpu::ballot(fresh);
  if (winners == 0) return;
  std::uint32_t place = 0;
  if (backend::gpu::lane() == 0) place = atomicAdd(&own.tail, backend::gpu::count_bits(winners));
  place = backend::gpu::shuffle(place, 0);
  if (fresh) queue[place + backend::gpu::rank_in(winners)] = steps;
}

/// The first wave: chooses the largest of the rows of bits that were met and are not covered by what was taken over.
__device__ inline void pick_row(const takeover_arguments& arguments, const std::uint32_t* row, std::uint32_t met,
                                long_search& own) {
  static_assert(long_search::most_met <= 1U << 8);  // and a size has 24 bits
  const std::uint32_t lane = backend::gpu::lane();
  std::uint32_t best = 0;
  for (std::uint32_t i = lane; i < met; i += wave_size) {
    const std::uint32_t size = size_of(own.met_rows[i]);
    if (size > arguments.longest_list && !has_bit(row, own.met_vertices[i])) best = max(best, size << 8 | i);
  }
  best = backend::gpu::greatest_of_lanes(best);
  const std::uint32_t picked = best == 0 ? long_search::none_met : best & (long_search::most_met - 1);
  if (best != 0) {
    const std::uint32_t* const map = arguments.rows + place_of(own.met_rows[picked]);
    for (std::uint32_t i = lane; i < arguments.map_words; i += wave_size)
      own.used[i] = backend::gpu::load_past_first_cache(map + i);
  }
  if (lane == 0) own.picked = picked;
}

/// The groups of a kept row whose map is in own.used.
__device__ inline void unite(const takeover_arguments& arguments, std::uint32_t* row, std::uint32_t place,
                             const long_search& own) {
  constexpr unsigned at_once = 8;
  const std::uint32_t waves = blockDim.x / wave_size;
  const std::uint32_t* const kept = arguments.rows + place + arguments.map_words + backend::gpu::lane();
  for (std::uint32_t begin = backend::gpu::wave(); begin < arguments.groups; begin += waves * at_once) {
    std::uint32_t loaded[at_once];
#pragma unroll
    for (unsigned k = 0; k < at_once; ++k) {
      const std::uint32_t group = begin + k * waves;
      const bool is_used = group < arguments.groups && is_group_used(own, group);
      loaded[k] = is_used ? backend::gpu::load_past_first_cache(kept + group * wave_size) : 0;
    }
#pragma unroll
    for (unsigned k = 0; k < at_once; ++k) {
      const std::uint32_t group = begin + k * waves;
      if (loaded[k] != 0) row[group * wave_size + backend::gpu::lane()] |= loaded[k];
    }
  }
}

/// Lists that were met, all of them, shared by the lanes of each wave.
__device__ inline void unite_lists(const takeover_arguments& arguments, std::uint32_t* row, std::uint32_t met,
                                   const long_search& own, unsigned long long& taken) {
  const std::uint32_t lane = backend::gpu::lane();
  for (std::uint32_t base = threadIdx.x - lane; base < met; base += blockDim.x) {
    const std::uint32_t i = base + lane;
    std::uint32_t size = 0;
    std::uint32_t place = 0;
    if (i < met && size_of(own.met_rows[i]) <= arguments.longest_list && set_bit(row, own.met_vertices[i])) {
      size = size_of(own.met_rows[i]);
      place = place_of(own.met_rows[i]);
      ++taken;
    }
    share_ranges<4>(
        place, size,
        [&](std::uint32_t position) { return backend::gpu::load_past_first_cache(arguments.rows + position); },
        [&](bool is_there, std::uint32_t number) {
          if (is_there && !has_bit(row, number)) set_bit(row, number);
        });
  }
}

/// The rows of vertices that a level has met. All threads call it behind a barrier, and leave it by one.
__device__ inline void take_over(const takeover_arguments& arguments, std::uint32_t* row, long_search& own,
                                 unsigned long long& taken) {
  const std::uint32_t met = min(own.met, long_search::most_met);
  if (met == 0) return;
  __threadfence();  // rows are read behind what said that they are complete
  for (;;) {
    if (backend::gpu::wave() == 0) pick_row(arguments, row, met, own);
    __syncthreads();
    const std::uint32_t picked = own.picked;
    if (picked == long_search::none_met) break;
    unite(arguments, row, place_of(own.met_rows[picked]), own);
    __syncthreads();
    if (threadIdx.x == 0) {
      set_bit(row, own.met_vertices[picked]);
      ++taken;
    }
    if (backend::gpu::wave() == 0) backend::gpu::wave_barrier();
  }
  unite_lists(arguments, row, met, own, taken);
  __syncthreads();
  if (threadIdx.x == 0) own.met = 0;
  __syncthreads();
}

/// Sets the bits of a list in the row. @return how many were new, to all threads, which call it behind a barrier
__device__ inline std::uint32_t count_new(const word* numbers, std::uint32_t n, std::uint32_t* row, long_search& own) {
  std::uint32_t fresh = 0;
  for (std::uint32_t i = threadIdx.x; i < n; i += blockDim.x) fresh += set_bit(row, numbers[i]) ? 1 : 0;
  fresh = backend::gpu::sum_of_lanes(fresh);
  if (backend::gpu::lane() == 0 && fresh != 0) atomicAdd(&own.tail, fresh);
  __syncthreads();
  const std::uint32_t all = own.tail;
  __syncthreads();
  if (threadIdx.x == 0) own.tail = 0;
  __syncthreads();
  return all;
}

/// Whether the result of a source is the row of its vertex, as begin_short() finds out of shorter lists. The row is
/// zero, before and behind it.
__device__ inline bool has_row_of_vertex(const takeover_arguments& arguments, std::uint64_t source,
                                         std::uint32_t vertex, std::uint32_t* row, long_search& own) {
  const row_kind known = arguments.kinds[source];
  if (known != row_kind::unknown) return known == row_kind::of_vertex;
  const word* const starts = arguments.starts + arguments.first_starts[source];
  const std::uint32_t start_count = arguments.first_starts[source + 1] - arguments.first_starts[source];
  const word* const steps = arguments.steps + arguments.vertices[vertex].first;
  const std::uint32_t step_count = arguments.vertices[vertex].count;
  const std::uint32_t following = count_new(steps, step_count, row, own);
  const std::uint32_t others = count_new(starts, start_count, row, own);
  for (std::uint32_t i = threadIdx.x; i < step_count; i += blockDim.x) row[steps[i] / word_bits] = 0;
  for (std::uint32_t i = threadIdx.x; i < start_count; i += blockDim.x) row[starts[i] / word_bits] = 0;
  __syncthreads();
  return others == 0 && following == start_count;
}

/// Fills the row. All threads call it behind a barrier, and leave it by one. @return levels
__device__ inline unsigned search_long(const takeover_arguments& arguments, std::uint64_t source, std::uint32_t* row,
                                       row_steps* queue, long_search& own, unsigned long long& candidates,
                                       unsigned long long& taken) {
  const std::uint32_t lane = backend::gpu::lane();
  const std::uint32_t start_end = arguments.first_starts[source + 1];
  for (std::uint32_t base = arguments.first_starts[source] + threadIdx.x - lane; base < start_end; base += blockDim.x) {
    const bool is_there = base + lane < start_end;
    visit_or_take(arguments, row, queue, own, is_there, is_there ? arguments.starts[base + lane] : 0);
  }
  __syncthreads();
  take_over(arguments, row, own, taken);
  unsigned levels = 1;
  std::uint32_t end = own.tail;
  for (std::uint32_t begin = 0; begin < end; ++levels) {
    __syncthreads();  // all know the end before the queue grows
    for (std::uint32_t base = begin + threadIdx.x - lane; base < end; base += blockDim.x) {
      row_steps steps = {};
      if (base + lane < end) steps = queue[base + lane];
      candidates += steps.count;
      share_ranges<1>(
          steps.first, steps.count, [&](std::uint32_t position) { return arguments.steps[position]; },
          [&](bool is_there, word next) { visit_or_take(arguments, row, queue, own, is_there, next); });
    }
    __syncthreads();
    take_over(arguments, row, own, taken);
    begin = end;
    end = own.tail;
  }
  __syncthreads();
  return levels;
}

/// What the row has. All threads call it behind a barrier, and leave it by one. @param sums by group: of the groups in
/// front; and one behind: the size of the row
__device__ inline void sum_groups(const takeover_arguments& arguments, const std::uint32_t* row, std::uint32_t* sums,
                                  long_search& own) {
  const std::uint32_t lane = backend::gpu::lane();
  for (std::uint32_t group = backend::gpu::wave(); group < arguments.groups; group += blockDim.x / wave_size) {
    const std::uint32_t size =
        backend::gpu::sum_of_lanes(std::uint32_t{backend::gpu::count_bits(row[group * wave_size + lane])});
    if (lane == 0) sums[group] = size;
  }
  __syncthreads();
  if (backend::gpu::wave() == 0) {
    std::uint32_t before = 0;
    for (std::uint32_t base = 0; base < arguments.groups; base += wave_size) {
      const std::uint32_t size = base + lane < arguments.groups ? sums[base + lane] : 0;
      const std::uint32_t sum = backend::gpu::inclusive_sum_of_lanes(size);
      const backend::gpu::lane_mask used = backend::gpu::ballot(size != 0);
      if (base + lane < arguments.groups) sums[base + lane] = before + sum - size;
      for (std::uint32_t part = lane; part < wave_size / word_bits; part += wave_size)
        own.used[base / word_bits + part] = static_cast<std::uint32_t>(used >> part * word_bits);
      before += backend::gpu::shuffle(sum, wave_size - 1);
    }
    if (lane == 0) sums[arguments.groups] = before;
  }
  __syncthreads();
}

/// One thread: takes rows of the result, a place to keep the row in, and the next search. It asks for all of them
/// before it waits for the first.
__device__ inline void take_places(const takeover_arguments& arguments, std::uint64_t source, bool keeps_bits,
                                   bool keeps_list, std::uint32_t size, long_search& own) {
  takeover_arguments::totals& counts = *arguments.counts;
  const bool is_list = size <= arguments.longest_list;
  const bool is_kept = is_list ? keeps_list : keeps_bits;
  const std::uint32_t words = is_list ? size : arguments.map_words + arguments.groups * wave_size;
  const unsigned long long rows = size;
  const unsigned long long next = atomicAdd(&counts.next, 1ULL);
  const unsigned long long base = arguments.is_again ? arguments.places[source] : atomicAdd(&counts.rows, rows);
  unsigned long long place = arguments.row_words;
  if (is_kept) place = atomicAdd(&counts.row_words, (words + row_alignment - 1ULL) / row_alignment * row_alignment);
  if (!arguments.is_again) atomicAdd(&counts.long_rows, rows);
  own.number = arguments.first + next;
  own.tail = own.met = 0;
  own.base = base;
  own.place = place + words <= arguments.row_words ? static_cast<std::uint32_t>(place) : long_search::not_kept;
  if (base + size > arguments.results.capacity) {
    arguments.places[source] = base;
    arguments.missing[atomicAdd(&counts.missing, 1ULL)] = static_cast<std::uint32_t>(source);
  }
}

/// Writes the row to the result, keeps it where it has a place, and clears it.
__device__ inline void write_long(const takeover_arguments& arguments, std::uint64_t source, std::uint32_t* row,
                                  const std::uint32_t* sums, std::uint16_t* staged, const long_search& own) {
  const takeover_results& results = arguments.results;
  const std::uint32_t lane = backend::gpu::lane();
  const std::uint32_t size = sums[arguments.groups];
  const bool has_room = own.base + size <= results.capacity;
  const bool is_kept = own.place != long_search::not_kept;
  const bool is_list = size <= arguments.longest_list;
  std::uint32_t* const kept = arguments.rows + (is_kept ? own.place : 0);
  for (std::uint32_t c = 0; c < results.invariant_columns && has_room; ++c) {
    const word value =
        results.invariants == nullptr ? static_cast<word>(source) : results.invariants[c * arguments.sources + source];
    fill_rows(results.out[c] + own.base, size, value, threadIdx.x, blockDim.x);
  }
  if (is_kept && !is_list && threadIdx.x < arguments.map_words)
    kept[threadIdx.x] = threadIdx.x * word_bits < arguments.groups ? own.used[threadIdx.x] : 0;
  for (std::uint32_t group = backend::gpu::wave(); group < arguments.groups; group += blockDim.x / wave_size) {
    const std::uint32_t before = sums[group];
    const std::uint32_t n = sums[group + 1] - before;
    if (n == 0) continue;
    const std::uint32_t bits = row[group * wave_size + lane];
    row[group * wave_size + lane] = 0;
    if (is_kept && !is_list) kept[arguments.map_words + group * wave_size + lane] = bits;
    if (!has_room && !(is_kept && is_list)) continue;
    const std::uint32_t own_bits = backend::gpu::count_bits(bits);
    list_group(bits, backend::gpu::inclusive_sum_of_lanes(own_bits) - own_bits, staged);
    if (is_kept && is_list) {
      for (std::uint32_t i = lane; i < n; i += wave_size) kept[before + i] = group * group_numbers + staged[i];
    }
    if (has_room) write_group(results, arguments.numbers, group * group_numbers, staged, n, own.base + before);
    backend::gpu::wave_barrier();
  }
}

/// The block's memory: the row, sums of its groups, and numbers that each wave lists.
[[nodiscard]] inline std::size_t long_takeover_bytes(std::uint32_t groups, unsigned threads) {
  return (groups * std::size_t{wave_size} + groups + 1) * sizeof(std::uint32_t) +
         threads / wave_size * sizeof(staged_numbers);
}

template <unsigned Threads>
__global__ void __launch_bounds__(Threads, backend::gpu::resident_threads * 5 / 8 / Threads == 0
                                               ? 1
                                               : backend::gpu::resident_threads * 5 / 8 / Threads)
    long_takeover_kernel(const GPULOG_GRID_CONSTANT takeover_arguments arguments) {
  GPULOG_DYNAMIC_SHARED(std::uint32_t, takeover_memory);
  GPULOG_SHARED(long_search, own);
  std::uint32_t* const row = takeover_memory;
  std::uint32_t* const sums = row + arguments.groups * wave_size;
  std::uint16_t* const staged =
      reinterpret_cast<std::uint16_t*>(sums + arguments.groups + 1) + backend::gpu::wave() * group_numbers;
  row_steps* const queue = arguments.queues + blockIdx.x * arguments.numbers;
  const std::uint64_t longs = arguments.counts->longs;
  const std::uint64_t last = arguments.is_again ? arguments.last : min(arguments.last, longs);
  const std::uint64_t kept_bits = arguments.is_again ? 0 : longs / sources_of_kept_bits + 1;
  unsigned long long candidates = 0;
  unsigned long long taken = 0;
  unsigned most_levels = 0;
  for (std::uint32_t i = threadIdx.x; i < arguments.groups * wave_size; i += blockDim.x) row[i] = 0;
  if (threadIdx.x == 0) {
    own.number = arguments.first + atomicAdd(&arguments.counts->next, 1ULL);
    own.tail = own.met = 0;
  }
  for (;;) {
    __syncthreads();  // the last search is done
    const std::uint64_t number = own.number;
    if (number >= last) break;
    const std::uint64_t source = arguments.listed[number];
    const std::uint32_t vertex =
        arguments.vertex_of == nullptr ? static_cast<std::uint32_t>(source) : arguments.vertex_of[source];
    const bool keeps = !arguments.is_again && has_row_of_vertex(arguments, source, vertex, row, own);
    most_levels = max(most_levels, search_long(arguments, source, row, queue, own, candidates, taken));
    sum_groups(arguments, row, sums, own);
    if (threadIdx.x == 0)
      take_places(arguments, source, keeps && number < kept_bits, keeps, sums[arguments.groups], own);
    __syncthreads();
    write_long(arguments, source, row, sums, staged, own);
    __syncthreads();
    if (threadIdx.x == 0 && own.place != long_search::not_kept) {
      __threadfence();  // all of the row is there before it is said to be complete
      atomicExch(&arguments.vertices[vertex].row,
                 static_cast<unsigned long long>(sums[arguments.groups]) << 32 | own.place);
    }
  }
  candidates = backend::gpu::sum_of_lanes(std::uint64_t{candidates});
  taken = backend::gpu::sum_of_lanes(std::uint64_t{taken});
  if (backend::gpu::lane() == 0) {
    if (candidates != 0) atomicAdd(&arguments.counts->candidates, candidates);
    if (taken != 0) atomicAdd(&arguments.counts->taken_over, taken);
  }
  if (threadIdx.x == 0) atomicMax(&arguments.counts->iterations, most_levels);
}

}  // namespace gpulog::kernels::gpu
