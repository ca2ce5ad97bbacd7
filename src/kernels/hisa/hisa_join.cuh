#pragma once

#include <cstdint>

#include "backend/gpu/wave.hpp"
#include "kernels/join/matches.cuh"
#include "kernels/join/pipeline.hpp"
#include "kernels/join/steps.cuh"
#include "storage/hisa/hisa_relation.hpp"

/// Joins over hash-indexed sorted arrays (article, section 5.1 and Algorithm 3): in strides over the outer rows, each
/// thread looks up the range of its row in the inner relation's hash table; then threads share the matches evenly by
/// prefix sums, so that a row with many matches does not burden one thread. Results go into `new`, with duplicates, or
/// into a temporary table for the next join (section 5.2).
namespace gpulog::kernels::gpu {

using storage::gpu::candidate_view;
using storage::gpu::hisa_run_view;
using storage::gpu::hisa_set_view;

/// Candidates per tile: a block finds the outer rows of a tile at a time.
constexpr std::uint32_t join_tile = 1024;
constexpr std::uint32_t join_rounds = join_tile / block_threads;

/// Source of a word: a column of the outer rows, a column of the matching rows, or a constant.
struct join_source {
  enum class origin : std::uint8_t { outer, inner, constant };
  origin from = origin::constant;
  word constant = 0;
  const word* column = nullptr;
};
/// A register that is loaded before the steps.
struct join_load {
  register_number target = 0;
  join_source source;
};

using join_step = device_step<hisa_run_view, hisa_set_view>;

struct join_arguments {
  const std::uint64_t* offsets = nullptr;  ///< number of matches before each outer row; null: each row is one candidate
  std::uint64_t rows = 0;
  std::uint64_t first_candidate = 0;
  std::uint64_t last_candidate = 0;
  const row_range* ranges = nullptr;
  const hisa_run_view* runs = nullptr;
  const join_load* loads = nullptr;
  std::uint32_t load_count = 0;
  const join_step* steps = nullptr;
  std::uint32_t step_count = 0;
  const word* constants = nullptr;
  std::uint32_t constant_count = 0;
  std::uint32_t slot_count = 0;
  const register_number* outputs = nullptr;     ///< with steps
  const join_source* output_sources = nullptr;  ///< without steps
  std::uint32_t output_count = 0;
  candidate_view target;  ///< used_bits: null in a temporary table
  std::uint32_t* fault = nullptr;
};

/// The form of the results.
enum class join_sink : std::uint8_t { packed, columns, nullary };

/// Shared memory of a joining block.
struct join_block {
  std::uint32_t owners[join_tile];  // by candidate of the tile, relative to first_row
  std::uint32_t wave_values[block_threads / backend::gpu::wave_size];
  std::uint64_t first_row;
  std::uint64_t last_row;
};

/// Finds the outer rows of candidates [begin, end): each row marks the start of its matches, and a running maximum of
/// the marks gives each candidate's row.
__device__ inline void find_owners(join_block& block, const join_arguments& arguments, std::uint64_t begin,
                                   std::uint64_t end) {
  const unsigned wave = backend::gpu::wave();
  const unsigned lane = backend::gpu::lane();
  for (std::uint32_t i = threadIdx.x; i < join_tile; i += block_threads) block.owners[i] = 0;
  if (wave < 2) {
    const std::uint64_t row = owner_by_wave(arguments.offsets, 0, arguments.rows - 1, wave == 0 ? begin : end - 1);
    if (threadIdx.x == 0) block.first_row = row;
    if (threadIdx.x == backend::gpu::wave_size) block.last_row = row;
  }
  __syncthreads();
  const std::uint64_t first_row = block.first_row;
  const std::uint64_t last_row = block.last_row;
  for (std::uint64_t row = first_row + 1 + threadIdx.x; row <= last_row; row += block_threads) {
    const std::uint64_t start = arguments.offsets[row];
    if (arguments.offsets[row + 1] > start) {
      block.owners[start - begin] = static_cast<std::uint32_t>(row - first_row);
    }
  }
  __syncthreads();
  std::uint32_t own[join_rounds];
  std::uint32_t largest = 0;
  for (std::uint32_t k = 0; k < join_rounds; ++k) {
    largest = max(largest, block.owners[threadIdx.x * join_rounds + k]);
    own[k] = largest;
  }
  std::uint32_t sofar = largest;
  for (unsigned distance = 1; distance < backend::gpu::wave_size; distance *= 2) {
    const std::uint32_t lower = backend::gpu::shuffle_up(sofar, distance);
    if (lane >= distance) sofar = max(sofar, lower);
  }
  if (lane == backend::gpu::wave_size - 1) block.wave_values[wave] = sofar;
  std::uint32_t before = backend::gpu::shuffle_up(sofar, 1);
  if (lane == 0) before = 0;
  __syncthreads();
  for (unsigned w = 0; w < wave; ++w) before = max(before, block.wave_values[w]);
  for (std::uint32_t k = 0; k < join_rounds; ++k) {
    block.owners[threadIdx.x * join_rounds + k] = max(before, own[k]);
  }
  __syncthreads();
}

/// A candidate's outer row, and its inner row as a position in the data array.
struct joined_rows {
  std::uint64_t outer = 0;
  std::uint64_t inner = 0;
};

__device__ inline joined_rows locate(const join_block& block, const join_arguments& arguments, std::uint64_t begin,
                                     std::uint32_t in_tile) {
  const std::uint64_t candidate = begin + in_tile;
  if (arguments.offsets == nullptr) return {candidate, 0};
  const std::uint64_t row = block.first_row + block.owners[in_tile];
  const row_match match = match_of(arguments.ranges, arguments.rows, row, candidate - arguments.offsets[row]);
  const std::uint32_t* const positions = arguments.runs[match.run].positions;
  return {row, positions == nullptr ? match.position : positions[match.position]};
}

__device__ inline word value_of(const join_source& source, const joined_rows& rows) {
  switch (source.from) {
    case join_source::origin::outer:
      return source.column[rows.outer];
    case join_source::origin::inner:
      return source.column[rows.inner];
    default:
      return source.constant;
  }
}

/// Records the bits used by a column's values. All threads of a wave call this.
__device__ inline void note_bits(word* used_bits, std::uint32_t column, word value) {
  const word all = backend::gpu::union_of_lanes(value);
  if (backend::gpu::lane() != 0) return;
  if ((all & ~*static_cast<volatile word*>(used_bits + column)) != 0) atomicOr(used_bits + column, all);
}

template <bool HasSteps, join_sink Sink>
__global__ void __launch_bounds__(block_threads) join_kernel(const join_arguments arguments) {
  GPULOG_DYNAMIC_SHARED(word, shared_words);
  GPULOG_SHARED(join_block, block);
  register_file<block_threads> registers(shared_words, arguments.slot_count);
  if constexpr (HasSteps) registers.set_constants(arguments.constants, arguments.constant_count);
  const std::uint64_t candidates = arguments.last_candidate - arguments.first_candidate;
  const std::uint64_t tiles = (candidates + join_tile - 1) / join_tile;
  for (std::uint64_t tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
    const std::uint64_t begin = arguments.first_candidate + tile * join_tile;
    const auto count =
        static_cast<std::uint32_t>(min(static_cast<std::uint64_t>(join_tile), arguments.last_candidate - begin));
    __syncthreads();  // all threads have finished the previous tile
    if (arguments.offsets != nullptr) find_owners(block, arguments, begin, begin + count);

    const auto run_steps = [&](const joined_rows& rows) {
      for (std::uint32_t i = 0; i < arguments.load_count; ++i) {
        registers.set(arguments.loads[i].target, value_of(arguments.loads[i].source, rows));
      }
      for (std::uint32_t s = 0; s < arguments.step_count; ++s) {
        if (!run_step(arguments.steps[s], registers, arguments.fault)) return false;
      }
      return true;
    };

    if constexpr (Sink == join_sink::packed) {
      std::uint64_t keys[join_rounds];
      backend::gpu::lane_mask alive[join_rounds];
      std::uint32_t found = 0;
#pragma unroll
      for (std::uint32_t k = 0; k < join_rounds; ++k) {
        const std::uint32_t in_tile = k * block_threads + threadIdx.x;
        keys[k] = 0;
        bool lives = in_tile < count;
        if (lives) {
          const joined_rows rows = locate(block, arguments, begin, in_tile);
          if constexpr (HasSteps) lives = run_steps(rows);
          if (lives) {
            for (std::uint32_t c = 0; c < arguments.output_count; ++c) {
              const word value =
                  HasSteps ? registers.get(arguments.outputs[c]) : value_of(arguments.output_sources[c], rows);
              keys[k] = keys[k] << 32 | value;
            }
          }
        }
        alive[k] = backend::gpu::ballot(lives);
        found += backend::gpu::count_bits(alive[k]);
      }
      std::uint64_t place = take_places(found, arguments.target.tail);
      word high = 0;
      word low = 0;
#pragma unroll
      for (std::uint32_t k = 0; k < join_rounds; ++k) {
        if ((alive[k] >> backend::gpu::lane() & 1) != 0) {
          arguments.target.keys[place + backend::gpu::rank_in(alive[k])] = keys[k];
        }
        place += backend::gpu::count_bits(alive[k]);
        high |= static_cast<word>(keys[k] >> 32);
        low |= static_cast<word>(keys[k]);
      }
      if (arguments.output_count == 2) note_bits(arguments.target.used_bits, 0, high);
      note_bits(arguments.target.used_bits, arguments.output_count - 1, low);
    } else {
      for (std::uint32_t k = 0; k < join_rounds; ++k) {
        const std::uint32_t in_tile = k * block_threads + threadIdx.x;
        bool lives = in_tile < count;
        joined_rows rows;
        if (lives) {
          rows = locate(block, arguments, begin, in_tile);
          if constexpr (HasSteps) lives = run_steps(rows);
        }
        if constexpr (Sink == join_sink::nullary) {
          if (lives) *arguments.target.tail = 1;
        } else {
          const backend::gpu::lane_mask alive = backend::gpu::ballot(lives);
          const std::uint64_t place =
              take_places(backend::gpu::count_bits(alive), arguments.target.tail) + backend::gpu::rank_in(alive);
          for (std::uint32_t c = 0; c < arguments.output_count; ++c) {
            word value = 0;
            if (lives) {
              value = HasSteps ? registers.get(arguments.outputs[c]) : value_of(arguments.output_sources[c], rows);
              arguments.target.columns[c * arguments.target.stride + place] = value;
            }
            if (arguments.target.used_bits != nullptr) note_bits(arguments.target.used_bits, c, value);
          }
        }
      }
    }
  }
}

}  // namespace gpulog::kernels::gpu
