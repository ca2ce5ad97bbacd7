#pragma once

#include <cstdint>

#include "kernels/search/row_bits.cuh"
#include "kernels/search/takeover.hpp"

/// Materializes factorized rows as columns: one wave per list, one block per row of bits.
namespace gpulog::kernels::gpu {

constexpr unsigned expansion_threads = 128;

/// Stores a word n times, with `threads` threads, mostly four words at a time.
__device__ inline void fill_rows(word* out, std::uint32_t n, word value, std::uint32_t thread, std::uint32_t threads) {
  const auto behind = static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(out) / sizeof(word) % 4);
  const std::uint32_t head = min((4 - behind) % 4, n);
  if (thread < head) backend::gpu::store_past_caches(out + thread, value);
  const std::uint32_t fours = (n - head) / 4;
  auto* const aligned = reinterpret_cast<backend::gpu::four_words*>(out + head);
  for (std::uint32_t i = thread; i < fours; i += threads)
    backend::gpu::store_past_caches(aligned + i, {{value, value, value, value}});
  const std::uint32_t done = head + fours * 4;
  if (thread < n - done) backend::gpu::store_past_caches(out + done + thread, value);
}

/// Fills the invariant columns of a source's rows.
__device__ inline void fill_invariants(const expansion_arguments& arguments, std::uint64_t source, std::uint64_t place,
                                       std::uint32_t n, std::uint32_t thread, std::uint32_t threads) {
  for (std::uint32_t c = 0; c < arguments.invariant_columns; ++c) {
    if (arguments.out[c] == nullptr) continue;
    const word value = arguments.invariants == nullptr ? static_cast<word>(source)
                                                       : arguments.invariants[c * arguments.sources + source];
    fill_rows(arguments.out[c] + place, n, value, thread, threads);
  }
}

/// All lanes: writes a list of n numbers.
__device__ inline void expand_list(const expansion_arguments& arguments, std::uint64_t source, std::uint64_t place,
                                   const std::uint32_t* numbers, std::uint32_t n) {
  const std::uint32_t lane = backend::gpu::lane();
  fill_invariants(arguments, source, place, n, lane, wave_size);
  for (std::uint32_t c = 0; c < arguments.node_columns; ++c) {
    if (arguments.out[arguments.invariant_columns + c] == nullptr) continue;
    word* const out = arguments.out[arguments.invariant_columns + c] + place;
    const word* const values = arguments.nodes == nullptr ? nullptr : arguments.nodes + c * arguments.numbers;
    for (std::uint32_t i = lane; i < n; i += wave_size)
      backend::gpu::store_past_caches(out + i, values == nullptr ? numbers[i] : values[numbers[i]]);
  }
}

/// All lanes: writes n staged numbers of a group to all node columns, aligned to memory lines.
__device__ inline void write_group(const expansion_arguments& arguments, std::uint32_t first_number,
                                   const std::uint16_t* staged, std::uint32_t n, std::uint64_t place) {
  for (std::uint32_t c = 0; c < arguments.node_columns; ++c) {
    if (arguments.out[arguments.invariant_columns + c] == nullptr) continue;
    word* const out = arguments.out[arguments.invariant_columns + c] + place;
    const word* const values = arguments.nodes == nullptr ? nullptr : arguments.nodes + c * arguments.numbers;
    const auto skipped =
        static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(out) / sizeof(word) % row_alignment);
    for (std::uint32_t i = backend::gpu::lane(); i < n + skipped; i += wave_size) {
      if (i < skipped) continue;
      const word number = first_number + staged[i - skipped];
      backend::gpu::store_past_caches(out + (i - skipped), values == nullptr ? number : values[number]);
    }
  }
}

/// All threads of the block: writes a row of bits. Each lane checks a group; waves share the nonzero groups, and load
/// several groups before the first store.
__device__ inline void expand_bits(const expansion_arguments& arguments, std::uint64_t source, std::uint64_t place,
                                   unsigned long long row, std::uint16_t* staged) {
  constexpr unsigned at_once = 4;
  const std::uint32_t lane = backend::gpu::lane();
  const std::uint32_t waves = blockDim.x / wave_size;
  const std::uint32_t* const kept = arguments.rows.at(row);
  const std::uint32_t* const sums = kept + arguments.rows.map_words;
  const std::uint32_t* const words = kept + arguments.rows.head_words + lane;
  fill_invariants(arguments, source, place, kept_row::size(row), threadIdx.x, blockDim.x);
  for (std::uint32_t base = 0; base < arguments.rows.groups; base += wave_size) {
    const bool is_group = base + lane < arguments.rows.groups;
    const std::uint32_t before = is_group ? sums[base + lane] : 0;
    const std::uint32_t n = is_group ? sums[base + lane + 1] - before : 0;
    const backend::gpu::lane_mask used = backend::gpu::ballot(n != 0);
    const bool is_own = n != 0 && backend::gpu::rank_in(used) % waves == backend::gpu::wave();
    for (backend::gpu::lane_mask left = backend::gpu::ballot(is_own); left != 0;) {
      std::uint32_t bits[at_once];
      unsigned owners[at_once];
      unsigned loaded = 0;
#pragma unroll
      for (unsigned k = 0; k < at_once; ++k) {
        bits[k] = owners[k] = 0;
        if (left == 0) continue;
        owners[k] = backend::gpu::lowest_bit(left);
        bits[k] = words[(base + owners[k]) * wave_size];
        left &= left - 1;
        ++loaded;
      }
#pragma unroll
      for (unsigned k = 0; k < at_once; ++k) {
        if (k >= loaded) continue;
        const std::uint32_t own = backend::gpu::count_bits(bits[k]);
        list_group(bits[k], backend::gpu::inclusive_sum_of_lanes(own) - own, staged);
        write_group(arguments, (base + owners[k]) * group_numbers, staged, backend::gpu::shuffle(n, owners[k]),
                    place + backend::gpu::shuffle(before, owners[k]));
        backend::gpu::wave_barrier();
      }
    }
  }
}

/// The same for a compact row: waves share the groups.
__device__ inline void expand_compact(const expansion_arguments& arguments, std::uint64_t source, std::uint64_t place,
                                      unsigned long long row, std::uint16_t* staged) {
  const std::uint32_t lane = backend::gpu::lane();
  const std::uint32_t* const kept = arguments.rows.at(row);
  const std::uint32_t used = kept[0];
  const std::uint32_t* const sums = kept + 1 + used;
  const std::uint32_t* const words = kept + row_memory::compact_head_words(used) + lane;
  fill_invariants(arguments, source, place, kept_row::size(row), threadIdx.x, blockDim.x);
  for (std::uint32_t i = backend::gpu::wave(); i < used; i += blockDim.x / wave_size) {
    const std::uint32_t bits = words[i * wave_size];
    const std::uint32_t own = backend::gpu::count_bits(bits);
    list_group(bits, backend::gpu::inclusive_sum_of_lanes(own) - own, staged);
    write_group(arguments, kept[1 + i] * group_numbers, staged, sums[i + 1] - sums[i], place + sums[i]);
    backend::gpu::wave_barrier();
  }
}

template <bool IsCompact>
__global__ void __launch_bounds__(expansion_threads, backend::gpu::resident_threads * 5 / 8 / expansion_threads)
    expand_rows_kernel(const GPULOG_GRID_CONSTANT expansion_arguments arguments) {
  constexpr unsigned waves = expansion_threads / wave_size;
  GPULOG_SHARED(staged_numbers[waves], staged);
  const auto source_at = [&](std::uint64_t i) {
    return arguments.listed == nullptr ? i : std::uint64_t{arguments.listed[i]};
  };
  for (std::uint64_t begin = arguments.first + blockIdx.x * waves; begin < arguments.last; begin += gridDim.x * waves) {
    const std::uint64_t own = begin + backend::gpu::wave();
    for (std::uint64_t i = begin; i < begin + waves && i < arguments.last; ++i) {
      const std::uint64_t source = source_at(i);
      const unsigned long long row = arguments.results[source];
      const bool is_kept = kept_row::place(row) != kept_row::no_place;
      if (row == kept_row::empty || (!is_kept && arguments.lists == nullptr)) continue;
      if (arguments.places[source + 1] == arguments.places[source]) continue;
      const bool is_list = !is_kept || kept_row::is_list(row);
      if (is_list && i != own) continue;
      const std::uint64_t place = arguments.places[source] - arguments.first_row;
      if (is_list) {
        expand_list(arguments, source, place,
                    is_kept ? arguments.rows.at(row) : arguments.lists + arguments.list_begins[source],
                    kept_row::size(row));
      } else if constexpr (IsCompact) {
        expand_compact(arguments, source, place, row, staged[backend::gpu::wave()]);
      } else {
        expand_bits(arguments, source, place, row, staged[backend::gpu::wave()]);
      }
    }
  }
}

}  // namespace gpulog::kernels::gpu
