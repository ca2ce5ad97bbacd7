#pragma once

#include <cstdint>

/// Sorting, merging and allocating pairs of words, as in table 6 of the article: total seconds of `runs` runs.
struct operation_times {
  double sort = 0;           ///< n random pairs, by both words
  double merge = 0;          ///< two sorted halves of n pairs, by path merge
  double merge_by_rank = 0;  ///< merge by known ranks, of positions, as in storage `hisa`; 0: not measured
  double allocation = 0;     ///< a buffer for n pairs, with initialisation
  int runs = 0;
};

/// Performs up to 100 runs, fewer if they take longer than `most_seconds` in total.
operation_times measure_on_cpu(std::uint64_t n, unsigned workers, double most_seconds);
/// @throws gpulog::backend::gpu::device_error
operation_times measure_on_gpu(std::uint64_t n, double most_seconds);
