#pragma once

#include <cstdint>

#include "backend/gpu/launch.hpp"
#include "backend/gpu/wave.hpp"
#include "storage/indexes/key_level.hpp"

/// Common parts of kernels that expand rows by their matches in any kind of index: ranges of matches per run, locating
/// a candidate's match, and places for results.
namespace gpulog::kernels::gpu {

using storage::row_range;

/// Threads per expanding block.
constexpr std::uint32_t block_threads = 256;

/// Computes the degree (number of matches) of an input row, and stores the range of matches in each run. The entry
/// after the last row is 0.
template <class Run>
struct row_degree {
  const Run* runs;
  std::uint32_t run_count;
  std::uint64_t rows;
  std::uint64_t first_row;  ///< first row of the key columns
  const word* const* keys;  ///< one column per key word; null: a constant
  const word* constants;    ///< by key word
  row_range* ranges;        ///< [run][row]
  row_range part;           ///< for a Cartesian product: the range that every input row pairs with
  __device__ std::uint64_t operator()(std::uint64_t row) const {
    if (row == rows) return 0;
    if (keys == nullptr) {
      ranges[row] = part;
      return part.count;
    }
    std::uint64_t sum = 0;
    for (std::uint32_t r = 0; r < run_count; ++r) {
      const row_range range =
          runs[r].find([&](std::uint32_t c) { return keys[c] == nullptr ? constants[c] : keys[c][first_row + row]; });
      ranges[r * rows + row] = range;
      sum += range.count;
    }
    return sum;
  }
};

/// Stores degrees for a prefix sum.
/// @tparam Degree a functor
template <class Degree>
struct store_degree {
  Degree degree;
  std::uint64_t* degrees;
  __device__ void operator()(std::uint64_t row) const { degrees[row] = degree(row); }
};
template <class Degree>
store_degree(Degree, std::uint64_t*) -> store_degree<Degree>;

/// A match of a row: a position in a run.
struct row_match {
  std::uint32_t run = 0;
  std::uint64_t position = 0;
};

/// Locates a match of a row.
/// @param ranges [run][row], with `rows` rows per run
/// @param number index of the match among the row's matches in all runs
__device__ inline row_match match_of(const row_range* ranges, std::uint64_t rows, std::uint64_t row,
                                     std::uint64_t number) {
  std::uint32_t run = 0;
  row_range range = ranges[row];
  while (number >= range.count) {
    number -= range.count;
    ++run;
    range = ranges[run * rows + row];
  }
  return {run, range.first + number};
}

/// Reserves `count` places per wave after the tail, with one atomic per block. All threads call this.
/// @return the place of the wave's first result
__device__ inline std::uint64_t take_places(std::uint32_t count, std::uint64_t* tail) {
  GPULOG_SHARED(std::uint32_t[block_threads / backend::gpu::wave_size], wave_counts);
  GPULOG_SHARED(std::uint64_t, base);
  const unsigned wave = backend::gpu::wave();
  if (backend::gpu::lane() == 0) wave_counts[wave] = count;
  __syncthreads();
  if (threadIdx.x == 0) {
    std::uint32_t sum = 0;
    for (std::uint32_t& value : wave_counts) {
      const std::uint32_t own = value;
      value = sum;
      sum += own;
    }
    base = sum == 0 ? 0 : atomicAdd(reinterpret_cast<unsigned long long*>(tail), static_cast<unsigned long long>(sum));
  }
  __syncthreads();
  const std::uint64_t place = base + wave_counts[wave];
  __syncthreads();  // before the next call writes the counts
  return place;
}

}  // namespace gpulog::kernels::gpu
