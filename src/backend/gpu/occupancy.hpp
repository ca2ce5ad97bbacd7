#pragma once

#include <cstdint>

/// Number of blocks per launch, as multiples of the blocks that run at a time, chosen on an H200 (132 multiprocessors
/// of 2048 threads). More blocks even out differences in run time, but each block has a start cost.
/// `bench/paper/builds` compares two builds with different factors.
namespace gpulog::backend::gpu {

struct launch_factors {
  /// For joins, whose blocks have different numbers of candidates.
  static constexpr unsigned joins = 4;
  /// For kernels over all elements of an array, if that is fewer than the number of elements.
  static constexpr unsigned elements = 8;
  /// For kernels that reduce an array: each block ends with an atomic.
  static constexpr unsigned reductions = 1;
  /// A search uses the fewest threads per block that keep this share of a multiprocessor's threads busy.
  static constexpr double searching_threads = 0.5;
};

}  // namespace gpulog::backend::gpu
