#pragma once

#include <cstdint>

/// How many blocks kernels are launched with, from what the device has and factors that were chosen on an H200 (132
/// multiprocessors of 2048 threads): more blocks than run at a time even out those that end early, and each costs its
/// start. `bench/paper/builds` compares two builds with different factors.
namespace gpulog::backend::gpu {

struct launch_factors {
  /// Blocks of a join for each that runs at a time: their numbers of candidates differ.
  static constexpr unsigned joins = 4;
  /// Blocks of a kernel over all elements of an array, where it is not as many as there are elements.
  static constexpr unsigned elements = 8;
  /// Blocks that go through an array and combine what they find: each ends with an atomic.
  static constexpr unsigned reductions = 1;
  /// A search runs with the fewest threads a block that keep this share of a multiprocessor's threads busy.
  static constexpr double searching_threads = 0.5;
};

}  // namespace gpulog::backend::gpu
