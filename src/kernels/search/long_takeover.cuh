#pragma once

#include <cstdint>

#include "kernels/join/wave_share.cuh"
#include "kernels/search/row_bits.cuh"
#include "kernels/search/takeover.hpp"
#include "kernels/search/used_groups.cuh"

/// The second takeover kernel: one block per source, whose result is a row of bits in shared memory. If the search
/// meets a vertex with a complete row, the search takes over that row and does not expand the vertex. An incomplete row
/// is searched through instead of awaited, so vertices may come in any order, and cycles do no harm.
namespace gpulog::kernels::gpu {

/// Loads the row and the steps of a vertex with one access.
[[nodiscard]] __device__ inline row_vertex load_vertex(const row_vertex* vertex) {
  const backend::gpu::four_words loaded =
      backend::gpu::load_past_first_cache(reinterpret_cast<const backend::gpu::four_words*>(vertex));
  return {kept_row::of(loaded.at[1], loaded.at[0]), loaded.at[2], loaded.at[3]};
}

/// Visits a number, or records that its row can be taken over. All lanes call this.
template <class Arrays>
__device__ inline void visit_or_take(const takeover_arguments& arguments, const Arrays& arrays,
                                     typename Arrays::search& own, bool is_there, std::uint32_t number) {
  bool fresh = false;
  row_vertex vertex = {};
  if (is_there && !has_bit(arrays.row, number)) {
    vertex = load_vertex(arguments.vertices + number);
    bool is_taken = false;
    if (vertex.row != kept_row::unknown && vertex.row != kept_row::empty) {
      const std::uint32_t met = atomicAdd(&own.met, 1U);
      is_taken = met < Arrays::search::most_met;
      if (is_taken) {
        own.met_vertices[met] = number;
        own.met_rows[met] = vertex.row;
      }
    }
    if (!is_taken) fresh = arrays.add(number) && vertex.row != kept_row::empty;
  }
  const backend::gpu::lane_mask winners = backend::gpu::ballot(fresh);
  if (winners == 0) return;
  std::uint32_t place = 0;
  if (backend::gpu::lane() == 0) place = atomicAdd(&own.tail, backend::gpu::count_bits(winners));
  place = backend::gpu::shuffle(place, 0);
  if (fresh) arrays.queue[place + backend::gpu::rank_in(winners)] = {vertex.first, vertex.count};
}

/// Picks, with the first wave, the largest met row of bits that earlier rows do not cover.
template <class Arrays>
__device__ inline void pick_row(const takeover_arguments& arguments, const Arrays& arrays, std::uint32_t met,
                                typename Arrays::search& own) {
  static_assert(Arrays::search::most_met <= 1U << 8);
  constexpr std::uint32_t most_size = (1U << 24) - 1;
  const std::uint32_t lane = backend::gpu::lane();
  std::uint32_t best = 0;
  for (std::uint32_t i = lane; i < met; i += wave_size) {
    const std::uint32_t size = kept_row::size(own.met_rows[i]);
    if (!kept_row::is_list(own.met_rows[i]) && !has_bit(arrays.row, own.met_vertices[i]))
      best = max(best, min(size, most_size) << 8 | i);
  }
  best = backend::gpu::greatest_of_lanes(best);
  const std::uint32_t picked = best == 0 ? Arrays::search::none_met : best & (Arrays::search::most_met - 1);
  if (Arrays::has_row && best != 0) {
    const std::uint32_t* const map = arguments.rows.at(own.met_rows[picked]);
    for (std::uint32_t i = lane; i < arguments.rows.map_words; i += wave_size)
      arrays.map[i] = backend::gpu::load_past_first_cache(map + i);
  }
  if (lane == 0) own.picked = picked;
}

/// Unites a row of bits, whose map is in arrays.map, with the search's row: a team of threads per group, four words per
/// thread.
template <class Arrays>
__device__ inline void unite(const takeover_arguments& arguments, const Arrays& arrays, unsigned long long kept) {
  using backend::gpu::four_words;
  constexpr unsigned at_once = 4;
  constexpr unsigned team = wave_size / 4;
  const std::uint32_t teams = blockDim.x / team;
  const auto* const from = reinterpret_cast<const four_words*>(arguments.rows.at(kept) + arguments.rows.head_words);
  auto* const to = reinterpret_cast<four_words*>(arrays.row);
  for (std::uint32_t begin = threadIdx.x / team; begin < arguments.rows.groups; begin += teams * at_once) {
    four_words loaded[at_once];
    bool is_used[at_once];
#pragma unroll
    for (unsigned k = 0; k < at_once; ++k) {
      const std::uint32_t group = begin + k * teams;
      is_used[k] = group < arguments.rows.groups && is_group_used(arrays.map, group);
      loaded[k] = {};
      if (is_used[k]) loaded[k] = backend::gpu::load_past_first_cache(from + group * team + threadIdx.x % team);
    }
#pragma unroll
    for (unsigned k = 0; k < at_once; ++k) {
      if (!is_used[k]) continue;
      four_words& words = to[(begin + k * teams) * team + threadIdx.x % team];
      for (unsigned w = 0; w < 4; ++w) words.at[w] |= loaded[k].at[w];
    }
  }
}

/// Unites all met lists with the search's row: a team of lanes per list.
template <class Arrays>
__device__ inline void unite_lists(const takeover_arguments& arguments, const Arrays& arrays, std::uint32_t met,
                                   const typename Arrays::search& own, unsigned long long& taken) {
  constexpr unsigned at_once = 4;
  constexpr unsigned team = 8;
  const std::uint32_t member = threadIdx.x % team;
  for (std::uint32_t base = 0; base < met; base += blockDim.x / team) {
    const std::uint32_t i = base + threadIdx.x / team;
    const unsigned long long row = i < met ? own.met_rows[i] : kept_row::empty;
    const std::uint32_t size = kept_row::is_list(row) ? kept_row::size(row) : 0;
    // One lane decides for the team, because its siblings might already see the effect of arrays.add().
    bool takes = false;
    if (member == 0 && size != 0) takes = arrays.add(own.met_vertices[i]);
    if (takes) ++taken;
    if (!backend::gpu::shuffle(takes, backend::gpu::lane() - member)) continue;
    const std::uint32_t* const numbers = arguments.rows.at(row);
    for (std::uint32_t begin = member; begin < size; begin += team * at_once) {
      std::uint32_t loaded[at_once];
#pragma unroll
      for (unsigned k = 0; k < at_once; ++k) {
        loaded[k] = begin + k * team < size ? backend::gpu::load_past_first_cache(numbers + begin + k * team)
                                            : own.met_vertices[i];
      }
#pragma unroll
      for (unsigned k = 0; k < at_once; ++k) arrays.add(loaded[k]);
    }
  }
}

/// Takes over the rows of vertices met in this level. All threads call this after a barrier; it ends with a barrier.
template <class Arrays>
__device__ inline void take_over(const takeover_arguments& arguments, const Arrays& arrays,
                                 typename Arrays::search& own, unsigned long long& taken) {
  const std::uint32_t met = min(own.met, Arrays::search::most_met);
  if (met == 0) return;
  __threadfence();  // orders reads of rows after the reads that found the rows complete
  for (;;) {
    if (backend::gpu::wave() == 0) pick_row(arguments, arrays, met, own);
    __syncthreads();
    const std::uint32_t picked = own.picked;
    if (picked == Arrays::search::none_met) break;
    if constexpr (Arrays::has_row) {
      unite(arguments, arrays, own.met_rows[picked]);
    } else {
      unite_used(arguments, arrays, own.met_rows[picked]);
    }
    __syncthreads();
    if (threadIdx.x == 0) {
      arrays.add(own.met_vertices[picked]);
      ++taken;
    }
    if (backend::gpu::wave() == 0) backend::gpu::wave_barrier();
  }
  unite_lists(arguments, arrays, met, own, taken);
  __syncthreads();
  if (threadIdx.x == 0) own.met = 0;
  __syncthreads();
}

/// Sets the bits of a list in the row. All threads call this after a barrier.
/// @return to all threads: the number of new bits
template <class Search>
__device__ inline std::uint32_t count_new(const word* numbers, std::uint32_t n, std::uint32_t* row, Search& own) {
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

/// Returns whether the result of a source is the row of its vertex; begin_short() does the same for short lists. The
/// row is zero before and after the call.
template <class Search>
__device__ inline bool has_row_of_vertex(const takeover_arguments& arguments, std::uint64_t source,
                                         std::uint32_t vertex, std::uint32_t* row, Search& own) {
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

/// Computes the row of a source. All threads call this after a barrier; it ends with a barrier.
/// @return the number of levels
template <class Arrays>
__device__ inline unsigned search_long(const takeover_arguments& arguments, std::uint64_t source, const Arrays& arrays,
                                       typename Arrays::search& own, unsigned long long& candidates,
                                       unsigned long long& taken) {
  const std::uint32_t lane = backend::gpu::lane();
  const std::uint32_t start_end = arguments.first_starts[source + 1];
  for (std::uint32_t base = arguments.first_starts[source] + threadIdx.x - lane; base < start_end; base += blockDim.x) {
    const bool is_there = base + lane < start_end;
    visit_or_take(arguments, arrays, own, is_there, is_there ? arguments.starts[base + lane] : 0);
  }
  __syncthreads();
  take_over(arguments, arrays, own, taken);
  unsigned levels = 1;
  std::uint32_t end = own.tail;
  for (std::uint32_t begin = 0; begin < end; ++levels) {
    __syncthreads();  // all threads read the end before the queue grows
    for (std::uint32_t base = begin + threadIdx.x - lane; base < end; base += blockDim.x) {
      row_steps steps = {};
      if (base + lane < end) steps = arrays.queue[base + lane];
      candidates += steps.count;
      share_ranges<1>(
          steps.first, steps.count, [&](std::uint32_t position) { return arguments.steps[position]; },
          [&](bool is_there, word next) { visit_or_take(arguments, arrays, own, is_there, next); });
    }
    __syncthreads();
    take_over(arguments, arrays, own, taken);
    begin = end;
    end = own.tail;
  }
  __syncthreads();
  return levels;
}

/// Computes the group sums of the row. All threads call this after a barrier; it ends with a barrier.
template <class Arrays>
__device__ inline void sum_groups(std::uint32_t groups, const Arrays& arrays) {
  const std::uint32_t lane = backend::gpu::lane();
  for (std::uint32_t group = backend::gpu::wave(); group < groups; group += blockDim.x / wave_size) {
    const std::uint32_t size =
        backend::gpu::sum_of_lanes(backend::gpu::count_bits(arrays.row[group * wave_size + lane]));
    if (lane == 0) arrays.sums[group] = size;
  }
  __syncthreads();
  if (backend::gpu::wave() == 0) {
    std::uint32_t before = 0;
    for (std::uint32_t base = 0; base < groups; base += wave_size) {
      const std::uint32_t size = base + lane < groups ? arrays.sums[base + lane] : 0;
      const std::uint32_t sum = backend::gpu::inclusive_sum_of_lanes(size);
      if (base + lane < groups) arrays.sums[base + lane] = before + sum - size;
      const backend::gpu::lane_mask used = backend::gpu::ballot(size != 0);
      for (std::uint32_t part = lane; part < wave_size / word_bits; part += wave_size)
        arrays.used[base / word_bits + part] = static_cast<std::uint32_t>(used >> part * word_bits);
      before += backend::gpu::shuffle(sum, wave_size - 1);
    }
    if (lane == 0) arrays.sums[groups] = before;
  }
  __syncthreads();
}

/// Reserves, with one thread, space for the row and the next search; the two atomics overlap.
/// @return whether the row is kept
template <class Arrays>
__device__ inline bool take_places(const takeover_arguments& arguments, const Arrays& arrays, std::uint64_t source,
                                   std::uint32_t size, typename Arrays::search& own) {
  std::uint32_t longest_list = arguments.rows.longest_list;
  if constexpr (!Arrays::has_row) longest_list = max(count_used(arrays) * arguments.rows.list_of_group, short_row);
  const bool is_list = size <= longest_list;
  std::uint32_t units = 0;
  if (is_list) {
    units = row_memory::list_units(size);
  } else if constexpr (Arrays::has_row) {
    units = arguments.rows.bits_units();
  } else {
    units = row_memory::compact_units(count_used(arrays));
  }
  const unsigned long long next = atomicAdd(&arguments.counts->next, 1ULL);
  // Repeated searches use places of equal size.
  const unsigned long long place =
      arguments.is_again ? arguments.again_unit + (own.number - arguments.first) * arguments.rows.bits_units()
                         : atomicAdd(&arguments.counts->row_units, static_cast<unsigned long long>(units));
  const bool is_kept = arguments.is_again || place + units <= arguments.row_units;
  const std::uint32_t marked = static_cast<std::uint32_t>(place) | (is_list ? 0 : kept_row::bits_mark);
  own.row = kept_row::of(size, is_kept ? marked : kept_row::no_place);
  arguments.results[source] = own.row;
  own.number = arguments.first + next;
  own.tail = own.met = 0;
  return is_kept;
}

/// Stores the row if space was reserved, and clears it.
template <class Arrays>
__device__ inline void keep_long(const row_memory& rows, const Arrays& arrays, unsigned long long row) {
  const std::uint32_t lane = backend::gpu::lane();
  const bool is_kept = kept_row::place(row) != kept_row::no_place;
  const bool is_list = kept_row::is_list(row);
  std::uint32_t* const kept = is_kept ? rows.at(row) : nullptr;
  if (is_kept && !is_list) {
    for (std::uint32_t i = threadIdx.x; i < rows.map_words; i += blockDim.x)
      kept[i] = i * word_bits < rows.groups ? arrays.used[i] : 0;
    for (std::uint32_t i = threadIdx.x; i <= rows.groups; i += blockDim.x) kept[rows.map_words + i] = arrays.sums[i];
  }
  for (std::uint32_t group = backend::gpu::wave(); group < rows.groups; group += blockDim.x / wave_size) {
    const std::uint32_t before = arrays.sums[group];
    const std::uint32_t n = arrays.sums[group + 1] - before;
    if (n == 0) continue;
    const std::uint32_t bits = arrays.row[group * wave_size + lane];
    arrays.row[group * wave_size + lane] = 0;
    if (!is_kept) continue;
    if (is_list) {
      list_bits(bits, group, kept + before);
    } else {
      kept[rows.head_words + group * wave_size + lane] = bits;
    }
  }
}

/// Returns the bytes of shared memory: the row, the sums of its groups, and a map; for a row in device memory, only the
/// data on used groups.
[[nodiscard]] inline std::size_t long_takeover_bytes(const row_memory& rows, bool has_row) {
  const std::size_t words = has_row ? rows.groups * std::size_t{wave_size} + rows.map_words + rows.groups + 1
                                    : 2 * std::size_t{rows.map_words} + 1;
  return words * sizeof(std::uint32_t);
}

template <class Arrays>
[[nodiscard]] __device__ inline Arrays arrays_of(const takeover_arguments& arguments, std::uint32_t* memory) {
  Arrays arrays = {};
  const std::uint32_t row_words = arguments.rows.groups * wave_size;
  arrays.row = Arrays::has_row ? memory : arguments.bits + std::uint64_t{blockIdx.x} * row_words;
  arrays.map = memory + (Arrays::has_row ? row_words : 0);
  arrays.used = arrays.map + (Arrays::has_row ? 0 : arguments.rows.map_words);
  arrays.sums = arrays.used + arguments.rows.map_words;
  if constexpr (!Arrays::has_row)
    arrays.groups = arguments.used_groups + std::uint64_t{blockIdx.x} * (arguments.rows.groups + 1);
  arrays.queue = arguments.queues + blockIdx.x * arguments.numbers;
  return arrays;
}

/// For a row in device memory: clears the map of used groups.
template <class Arrays>
__device__ inline void forget_used(const row_memory& rows, const Arrays& arrays) {
  if constexpr (!Arrays::has_row) {
    for (std::uint32_t i = threadIdx.x; i < rows.map_words; i += blockDim.x) arrays.used[i] = 0;
  }
}

/// Totals that a block adds to the counts.
struct long_totals {
  unsigned long long rows = 0;      // counted by the first thread
  unsigned long long not_kept = 0;  // counted by the first thread
  unsigned long long candidates = 0;
  unsigned long long taken = 0;
  unsigned most_levels = 0;
};
__device__ inline void add_totals(takeover_arguments::totals& counts, long_totals own) {
  own.candidates = backend::gpu::sum_of_lanes(std::uint64_t{own.candidates});
  own.taken = backend::gpu::sum_of_lanes(std::uint64_t{own.taken});
  if (backend::gpu::lane() == 0) {
    if (own.candidates != 0) atomicAdd(&counts.candidates, own.candidates);
    if (own.taken != 0) atomicAdd(&counts.taken_over, own.taken);
  }
  if (threadIdx.x != 0) return;
  atomicMax(&counts.iterations, own.most_levels);
  if (own.rows != 0) atomicAdd(&counts.rows, own.rows);
  if (own.not_kept != 0) atomicAdd(&counts.not_kept, own.not_kept);
}

template <unsigned Threads, bool HasRow>
__global__ void __launch_bounds__(Threads, backend::gpu::resident_threads * 5 / 8 / Threads == 0
                                               ? 1
                                               : backend::gpu::resident_threads * 5 / 8 / Threads)
    long_takeover_kernel(const GPULOG_GRID_CONSTANT takeover_arguments arguments) {
  GPULOG_DYNAMIC_SHARED(backend::gpu::four_words, takeover_memory);
  using arrays_type = search_arrays<Threads, HasRow>;
  GPULOG_SHARED(typename arrays_type::search, own);
  const arrays_type arrays = arrays_of<arrays_type>(arguments, takeover_memory->at);
  const std::uint64_t last =
      arguments.is_again ? arguments.last : min(arguments.last, std::uint64_t{arguments.counts->longs});
  long_totals totals;
  if (HasRow) {
    for (std::uint32_t i = threadIdx.x; i < arguments.rows.groups * wave_size; i += blockDim.x) arrays.row[i] = 0;
  }
  forget_used(arguments.rows, arrays);
  if (threadIdx.x == 0) {
    own.number = arguments.first + atomicAdd(&arguments.counts->next, 1ULL);
    own.tail = own.met = 0;
  }
  for (;;) {
    __syncthreads();  // the previous search has ended
    const std::uint64_t number = own.number;
    if (number >= last) break;
    const std::uint64_t source = arguments.listed[number];
    const std::uint32_t vertex =
        arguments.vertex_of == nullptr ? static_cast<std::uint32_t>(source) : arguments.vertex_of[source];
    const bool is_of_vertex = !arguments.is_again && has_row_of_vertex(arguments, source, vertex, arrays.row, own);
    totals.most_levels =
        max(totals.most_levels, search_long(arguments, source, arrays, own, totals.candidates, totals.taken));
    if constexpr (HasRow) {
      sum_groups(arguments.rows.groups, arrays);
    } else {
      list_used(arguments.rows, arrays);
    }
    if (threadIdx.x == 0) {
      const std::uint32_t size = HasRow ? arrays.sums[arguments.rows.groups] : arrays.groups[count_used(arrays)].before;
      totals.rows += size;
      if (!take_places(arguments, arrays, source, size, own)) ++totals.not_kept;
    }
    __syncthreads();
    if constexpr (HasRow) {
      keep_long(arguments.rows, arrays, own.row);
    } else {
      keep_used(arguments.rows, arrays, own.row);
    }
    __syncthreads();
    forget_used(arguments.rows, arrays);
    if (threadIdx.x == 0 && is_of_vertex && kept_row::place(own.row) != kept_row::no_place) {
      __threadfence();  // the whole row is visible before the vertex marks it as complete
      atomicExch(&arguments.vertices[vertex].row, own.row);
    }
  }
  add_totals(*arguments.counts, totals);
}

}  // namespace gpulog::kernels::gpu
