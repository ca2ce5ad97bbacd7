#pragma once

#include <cstdint>

#include "kernels/search/row_bits.cuh"
#include "kernels/search/takeover.hpp"

/// State of a block's search, and operations on rows in device memory, for which shared memory is too small. Such rows
/// are long: the cost of an operation depends on the used groups, not on all groups.
namespace gpulog::kernels::gpu {

/// State of a search in shared memory, except for the row. A block with few threads has fewer slots for met vertices:
/// space for a further block is worth more than vertices that the block could not take over at once.
template <unsigned Threads>
struct long_search {
  static constexpr std::uint32_t most_met = Threads <= 256 ? 128 : 256;
  static constexpr std::uint32_t none_met = UINT32_MAX;

  unsigned long long number;  ///< position in the list of long searches
  unsigned long long row;     ///< as stored
  std::uint32_t tail;         ///< of the queue
  std::uint32_t met;  ///< vertices of this level with complete rows; beyond most_met, vertices are searched through
  std::uint32_t picked;
  std::uint32_t met_vertices[most_met];  ///< with repetitions
  unsigned long long met_rows[most_met];
};

/// Arrays of a block. HasRow: the row of bits is in shared memory. Otherwise the row is long and in device memory, and
/// only its used groups are read.
template <unsigned Threads, bool HasRow>
struct search_arrays {
  using search = long_search<Threads>;
  static constexpr bool has_row = HasRow;

  std::uint32_t* row;  ///< row of bits
  /// By group: number of bits before it, with one extra entry; without HasRow: the number of used groups.
  std::uint32_t* sums;
  /// Bits by group, set if the group of the row being taken over is nonzero; without HasRow: by word of `used`, the
  /// number of used groups before it.
  std::uint32_t* map;
  std::uint32_t* used;  ///< like `map`, for the search's row; with HasRow, set once the row is complete
  used_group* groups;   ///< without HasRow, once the row is complete: its used groups, and one extra entry
  row_steps* queue;

  /// Loads words of the row as written by all threads.
  template <class Words>
  __device__ static Words load(const Words* words) {
    if constexpr (HasRow) {
      return *words;
    } else {
      return backend::gpu::load_past_first_cache(words);
    }
  }
  /// @return whether the number is new to the row
  __device__ bool add(std::uint32_t number) const {
    const bool fresh = set_bit(row, number);
    if constexpr (!HasRow) {
      if (fresh && !has_bit(used, number / group_numbers)) set_bit(used, number / group_numbers);
    }
    return fresh;
  }
};

/// Returns the number of used groups of a complete row (without HasRow).
template <class Arrays>
[[nodiscard]] __device__ inline std::uint32_t count_used(const Arrays& arrays) {
  return arrays.sums[0];
}
[[nodiscard]] __device__ inline bool is_group_used(const std::uint32_t* used, std::uint32_t group) {
  return (used[group / word_bits] >> group % word_bits & 1) != 0;
}

/// All lanes: lists the numbers of a group's bits. A list has few bits per word, so lanes store adjacent results
/// directly.
__device__ inline void list_bits(std::uint32_t bits, std::uint32_t group, std::uint32_t* to) {
  const std::uint32_t own = backend::gpu::count_bits(bits);
  to += backend::gpu::inclusive_sum_of_lanes(own) - own;
  for (std::uint32_t left = bits; left != 0; left &= left - 1)
    *to++ = (group * wave_size + backend::gpu::lane()) * word_bits + backend::gpu::lowest_bit(left);
}

/// Computes, with the first wave, the number of used groups before each word of the map, and the total.
template <class Arrays>
__device__ inline void sum_used(const row_memory& rows, const Arrays& arrays) {
  const std::uint32_t lane = backend::gpu::lane();
  std::uint32_t before = 0;
  for (std::uint32_t base = 0; base < rows.map_words; base += wave_size) {
    const std::uint32_t n = base + lane < rows.map_words ? backend::gpu::count_bits(arrays.used[base + lane]) : 0;
    const std::uint32_t sum = backend::gpu::inclusive_sum_of_lanes(n);
    if (base + lane < rows.map_words) arrays.map[base + lane] = before + sum - n;
    before += backend::gpu::shuffle(sum, wave_size - 1);
  }
  if (lane == 0) arrays.sums[0] = before;
}

/// Turns, with the first wave, group sizes into the number of bits before each group.
template <class Arrays>
__device__ inline void sum_sizes(const Arrays& arrays) {
  const std::uint32_t lane = backend::gpu::lane();
  const std::uint32_t used = count_used(arrays);
  std::uint32_t before = 0;
  for (std::uint32_t base = 0; base < used; base += wave_size) {
    const std::uint32_t size = base + lane < used ? arrays.groups[base + lane].before : 0;
    const std::uint32_t sum = backend::gpu::inclusive_sum_of_lanes(size);
    if (base + lane < used) arrays.groups[base + lane].before = before + sum - size;
    before += backend::gpu::shuffle(sum, wave_size - 1);
  }
  if (lane == 0) arrays.groups[used].before = before;
}

/// Lists the used groups of the row, ascending, with the number of bits before each group. All threads call this after
/// a barrier; it ends with a barrier.
template <class Arrays>
__device__ inline void list_used(const row_memory& rows, const Arrays& arrays) {
  constexpr unsigned at_once = 4;
  const std::uint32_t lane = backend::gpu::lane();
  const std::uint32_t wave = backend::gpu::wave();
  const std::uint32_t waves = blockDim.x / wave_size;
  if (wave == 0) sum_used(rows, arrays);
  __syncthreads();
  for (std::uint32_t i = wave; i < rows.map_words; i += waves) {
    const std::uint32_t used = arrays.used[i];
    if (lane < word_bits && (used >> lane & 1) != 0) {
      const std::uint32_t lower = used & ((1U << lane) - 1);
      arrays.groups[arrays.map[i] + backend::gpu::count_bits(lower)].number = i * word_bits + lane;
    }
  }
  __syncthreads();
  const std::uint32_t used = count_used(arrays);
  for (std::uint32_t begin = wave; begin < used; begin += waves * at_once) {
    std::uint32_t bits[at_once];
#pragma unroll
    for (unsigned k = 0; k < at_once; ++k) {
      const std::uint32_t i = begin + k * waves;
      bits[k] = i < used ? Arrays::load(arrays.row + arrays.groups[i].number * wave_size + lane) : 0;
    }
#pragma unroll
    for (unsigned k = 0; k < at_once; ++k) {
      const std::uint32_t i = begin + k * waves;
      const std::uint32_t size = backend::gpu::sum_of_lanes(backend::gpu::count_bits(bits[k]));
      if (lane == 0 && i < used) arrays.groups[i].before = size;
    }
  }
  __syncthreads();
  if (wave == 0) sum_sizes(arrays);
  __syncthreads();
}

/// Unites a compact row of bits with the search's row: a team of threads per group, four words per thread.
template <class Arrays>
__device__ inline void unite_used(const takeover_arguments& arguments, const Arrays& arrays, unsigned long long kept) {
  using backend::gpu::four_words;
  constexpr unsigned at_once = 4;
  constexpr unsigned team = wave_size / 4;
  const std::uint32_t teams = blockDim.x / team;
  const std::uint32_t member = threadIdx.x % team;
  const std::uint32_t* const row = arguments.rows.at(kept);
  const std::uint32_t used = backend::gpu::load_past_first_cache(row);
  const auto* const from = reinterpret_cast<const four_words*>(row + row_memory::compact_head_words(used));
  auto* const to = reinterpret_cast<four_words*>(arrays.row);
  for (std::uint32_t begin = threadIdx.x / team; begin < used; begin += teams * at_once) {
    four_words loaded[at_once];
    std::uint32_t groups[at_once];
#pragma unroll
    for (unsigned k = 0; k < at_once; ++k) {
      const std::uint32_t i = begin + k * teams;
      loaded[k] = {};
      groups[k] = 0;
      if (i >= used) continue;
      groups[k] = backend::gpu::load_past_first_cache(row + 1 + i);
      loaded[k] = backend::gpu::load_past_first_cache(from + i * team + member);
    }
#pragma unroll
    for (unsigned k = 0; k < at_once; ++k) {
      if (begin + k * teams >= used) continue;
      four_words& words = to[groups[k] * team + member];
      four_words united = Arrays::load(&words);
      for (unsigned w = 0; w < 4; ++w) united.at[w] |= loaded[k].at[w];
      words = united;
      if (member == 0 && !has_bit(arrays.used, groups[k])) set_bit(arrays.used, groups[k]);
    }
  }
}

/// Stores the row if space was reserved, and clears it.
template <class Arrays>
__device__ inline void keep_used(const row_memory& rows, const Arrays& arrays, unsigned long long row) {
  const std::uint32_t lane = backend::gpu::lane();
  const std::uint32_t used = count_used(arrays);
  const bool is_kept = kept_row::place(row) != kept_row::no_place;
  const bool is_list = kept_row::is_list(row);
  std::uint32_t* const kept = is_kept ? rows.at(row) : nullptr;
  if (is_kept && !is_list) {
    if (threadIdx.x == 0) kept[0] = used;
    for (std::uint32_t i = threadIdx.x; i <= used; i += blockDim.x) {
      if (i < used) kept[1 + i] = arrays.groups[i].number;
      kept[1 + used + i] = arrays.groups[i].before;
    }
  }
  std::uint32_t* const words = is_kept && !is_list ? kept + row_memory::compact_head_words(used) : nullptr;
  for (std::uint32_t i = backend::gpu::wave(); i < used; i += blockDim.x / wave_size) {
    const used_group group = arrays.groups[i];
    std::uint32_t& own = arrays.row[group.number * wave_size + lane];
    const std::uint32_t bits = Arrays::load(&own);
    own = 0;
    if (words != nullptr) {
      words[i * wave_size + lane] = bits;
    } else if (is_kept) {
      list_bits(bits, group.number, kept + group.before);
    }
  }
}

}  // namespace gpulog::kernels::gpu
