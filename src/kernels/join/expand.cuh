#pragma once

#include <cstdint>

#include "backend/gpu/wave.hpp"
#include "kernels/join/device_program.hpp"
#include "kernels/join/first_match.cuh"
#include "kernels/join/insert.cuh"
#include "kernels/join/matches.cuh"
#include "kernels/join/steps.cuh"

/// The fused kernel: scan -> match -> filter -> anti-match -> insert, for one segment of a pipeline.
namespace gpulog::kernels::gpu {

/// Returns the input row of candidate c: the last row in [low, high] whose offset is at most c.
__device__ inline std::uint64_t owner_of(const std::uint64_t* offsets, std::uint64_t low, std::uint64_t high,
                                         std::uint64_t c) {
  while (low < high) {
    const std::uint64_t middle = (low + high + 1) / 2;
    if (offsets[middle] <= c) {
      low = middle;
    } else {
      high = middle - 1;
    }
  }
  return low;
}

/// Reserves a place for each winning thread. All threads call this.
/// @return the thread's place if it wins
__device__ inline std::uint64_t take_place(bool wins, std::uint64_t* tail) {
  const backend::gpu::lane_mask winners = backend::gpu::ballot(wins);
  return take_places(backend::gpu::count_bits(winners), tail) + backend::gpu::rank_in(winners);
}

/// Reports how the kernel ended; all threads of all blocks call this, and the last block writes the report.
/// @param candidates the number of candidates; first matches instead report, if not refused, the number of examined
///   rows
template <sink Sink>
__device__ void report_end(const expand_arguments& arguments, std::uint64_t candidates, bool refused) {
  constexpr bool restart = Sink == sink::table;  // the next kernel counts from 0
  __syncthreads();
  if (threadIdx.x != 0) return;
  __threadfence();
  if (atomicAdd(arguments.finished_blocks, 1U) != gridDim.x - 1) return;
  __threadfence();
  *arguments.finished_blocks = 0;
  append_counter& counter = *arguments.counter;
  volatile backend::gpu::kernel_report& report = *arguments.report;
  const std::uint64_t tail = atomicAdd(reinterpret_cast<unsigned long long*>(&counter.tail), 0ULL);
  const bool is_full = Sink == sink::rows && !refused && tail > arguments.room;
  report.rows = tail;
  report.refused = refused || is_full ? 1 : 0;
  report.candidates = candidates;
  if (arguments.degrees != nullptr && !refused) {
    const std::uint64_t looked_at = atomicExch(reinterpret_cast<unsigned long long*>(arguments.looked_at), 0ULL);
    if (!is_full) report.candidates = looked_at;
  }
  report.fault = *arguments.fault;
  if (is_full) {
    counter.tail = counter.tail_before;
  } else {
    counter.tail_before = restart ? 0 : tail;
    if (restart) counter.tail = 0;
  }
  __threadfence_system();
  report.number = arguments.report_number;
}

/// Blocks per multiprocessor that keep all threads busy: with more registers per thread, fewer memory accesses overlap
/// (with 40 instead of 32 registers, SG on loc-Brightkite took 1.15 times as long).
constexpr std::uint32_t full_occupancy = backend::gpu::resident_threads / block_threads;

/// Assigns each candidate to one thread, independent of the number of matches per row, so that skewed keys are split
/// evenly.
template <sink Sink, matching Matching>
__global__ void __launch_bounds__(block_threads, full_occupancy) expand_kernel(const expand_arguments arguments) {
  GPULOG_DYNAMIC_SHARED(word, shared_words);
  GPULOG_SHARED(std::uint64_t, first_row);
  GPULOG_SHARED(std::uint64_t, last_row);
  constexpr std::uint32_t waves = block_threads / backend::gpu::wave_size;
  GPULOG_SHARED(std::uint32_t[waves], is_decided);
  register_file<block_threads> registers(shared_words, arguments.slot_count);
  registers.set_constants(arguments.constants, arguments.constant_count);

  std::uint64_t last_candidate = arguments.last_candidate;
  if (last_candidate == all_candidates) {
    last_candidate = arguments.offsets == nullptr ? arguments.rows : arguments.offsets[arguments.rows];
    if (Sink != sink::nullary && arguments.counter->tail_before + last_candidate > arguments.room) {
      report_end<Sink>(arguments, last_candidate, true);
      return;
    }
  }
  const std::uint64_t candidates = last_candidate - arguments.first_candidate;
  constexpr bool looks_for_first = Matching == matching::first || Matching == matching::first_of_several;
  first_match_search<Matching == matching::first_of_several, decltype(registers)> search(
      arguments, registers, is_decided[backend::gpu::wave()]);
  // Small launches are spread over all blocks. Rows that search for a first match are spread over all waves, so that
  // idle lanes can help.
  const std::uint64_t share = (candidates + gridDim.x - 1) / gridDim.x;
  std::uint32_t threads_with_row = backend::gpu::wave_size;  // per wave
  if constexpr (looks_for_first) {
    threads_with_row = static_cast<std::uint32_t>(
        min(std::uint64_t{backend::gpu::wave_size}, max(std::uint64_t{1}, (share + waves - 1) / waves)));
  }
  const std::uint64_t round = std::uint64_t{threads_with_row} * waves;
  const std::uint64_t tile_size =
      min(tile_candidates / block_threads * round, max(std::uint64_t{1}, (share + round - 1) / round) * round);
  const std::uint64_t tiles = (candidates + tile_size - 1) / tile_size;
  for (std::uint64_t tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
    const std::uint64_t begin = arguments.first_candidate + tile * tile_size;
    const std::uint64_t end = min(begin + tile_size, last_candidate);
    if (arguments.offsets != nullptr && backend::gpu::wave() < 2) {
      const std::uint64_t bound = backend::gpu::wave() == 0 ? begin : end - 1;
      const std::uint64_t row = owner_by_wave(arguments.offsets, 0, arguments.rows - 1, bound);
      if (threadIdx.x == 0) first_row = row;
      if (threadIdx.x == backend::gpu::wave_size) last_row = row;
    }
    __syncthreads();
    for (std::uint64_t first = begin; first < end; first += round) {
      std::uint64_t candidate = first + threadIdx.x;
      bool alive = candidate < end;
      if constexpr (looks_for_first) {
        candidate = first + backend::gpu::wave() * threads_with_row + backend::gpu::lane();
        alive = candidate < end && backend::gpu::lane() < threads_with_row;
        alive = search.find(candidate, alive);
      } else if (alive) {
        std::uint64_t row = candidate;
        [[maybe_unused]] const device_choice* own = nullptr;
        if (arguments.offsets != nullptr) {
          row = owner_of(arguments.offsets, first_row, last_row, candidate);
          const std::uint64_t number = candidate - arguments.offsets[row];
          if constexpr (Matching == matching::chosen) {
            own = arguments.choices + arguments.chosen[row];
            const auto [run, position] = match_of(arguments.ranges, arguments.rows, row, number);
            const run_view& view = own->runs[run];
            registers.set(own->bound.target, view.stored[own->bound.stored * view.rows + position]);
          } else {
            set_matched(arguments, registers, row, number);
          }
        }
        set_carried(arguments, registers, row);
        if constexpr (Matching == matching::chosen) {
          for (std::uint32_t s = 0; s < own->check_count && alive; ++s) {
            alive = run_step(own->checks[s], registers, arguments.fault);
          }
        }
        for (std::uint32_t s = 0; s < arguments.step_count && alive; ++s) {
          alive = run_step<Matching != matching::all>(arguments.steps[s], registers, arguments.fault);
        }
      }
      if constexpr (Sink == sink::nullary) {
        if (alive) arguments.counter->tail = 1;
      } else if constexpr (Sink == sink::packed) {
        std::uint64_t key = 0;
        if (alive) {
          key = set_view::packed(arguments.target.arity,
                                 [&](std::uint32_t c) { return registers.get(arguments.outputs[c]); });
          alive = insert_packed(arguments.target.set, key);
        }
        const std::uint64_t row = take_place(alive, &arguments.counter->tail);
        if (alive) store_packed(arguments.target.set, row, key);
      } else if constexpr (Sink == sink::wide) {
        if (alive) {
          insert_row(
              arguments.target.set, [&](std::uint32_t c) { return registers.get(arguments.outputs[c]); },
              [&] { return backend::gpu::count_up(&arguments.counter->tail); });
        }
      } else if constexpr (Sink == sink::best) {
        const auto value = [&](std::uint32_t c) { return registers.get(arguments.outputs[c]); };
        if (alive) alive = offer_best(arguments.target.set, value);
        const std::uint64_t row = take_place(alive, &arguments.counter->tail);
        if (alive) store_tuple(arguments.target.set, row, value);
      } else if constexpr (Sink == sink::rows) {
        const std::uint64_t row = take_place(alive, &arguments.counter->tail);
        if (alive && row < arguments.room) {
          store_tuple(arguments.target.set, row, [&](std::uint32_t c) { return registers.get(arguments.outputs[c]); });
        }
      } else {
        const std::uint64_t row = take_place(alive, &arguments.counter->tail);
        if (alive) {
          for (std::uint32_t c = 0; c < arguments.output_count; ++c) {
            arguments.output_columns[c][row] = registers.get(arguments.outputs[c]);
          }
        }
      }
    }
    __syncthreads();
  }
  if constexpr (looks_for_first) {
    const std::uint64_t looked_at = search.looked_at();
    if (looked_at != 0) atomicAdd(reinterpret_cast<unsigned long long*>(arguments.looked_at), looked_at);
  }
  report_end<Sink>(arguments, candidates, false);
}

}  // namespace gpulog::kernels::gpu
