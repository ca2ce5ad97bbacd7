#pragma once

#include <cstdint>

/// What the article's table 6 compares: sorting, merging and allocating pairs of words, in seconds of `runs` runs.
struct operation_times {
  double sort = 0;           ///< n random pairs, by both words
  double merge = 0;          ///< two sorted halves of n pairs, by path merge
  double merge_by_rank = 0;  ///< the same by known ranks, of positions: what storage `hisa` does; 0: not measured
  double allocation = 0;     ///< a buffer for n pairs, with initialisation
  int runs = 0;
};

/// Up to 100 runs, fewer when they take longer than `most_seconds` in all.
operation_times measure_on_cpu(std::uint64_t n, unsigned workers, double most_seconds);
/// @throws gpulog::backend::gpu::device_error
operation_times measure_on_gpu(std::uint64_t n, double most_seconds);
