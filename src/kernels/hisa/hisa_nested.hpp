#pragma once

#include <cstdint>

#include "backend/gpu/device.hpp"
#include "kernels/join/nested_program.hpp"
#include "storage/hisa/hisa_relation.hpp"

/// Joins of several atoms as nested loops over hash-indexed sorted arrays, one thread per outer tuple: the article's
/// baseline for temporarily-materialized joins (section 5.2). A first pass counts the results of each outer tuple, so
/// that the second pass writes without atomics.
namespace gpulog::kernels::gpu {

using hisa_body = nested_body<storage::gpu::hisa_run_view, storage::gpu::hisa_set_view>;

struct hisa_nest {
  hisa_body body;
  std::uint64_t first_row = 0;  ///< of the body's outer rows
  std::uint64_t rows = 0;
  /// By row: number of results when counting, results of all earlier rows when filling.
  std::uint64_t* places = nullptr;
  storage::gpu::candidate_view target;
  std::uint32_t* fault = nullptr;
};

void count_nested(const backend::gpu::device_context& context, const hisa_nest& nest);
/// Appends all results to the target and advances the tail.
/// @param results the counted number of results
void fill_nested(const backend::gpu::device_context& context, const hisa_nest& nest, std::uint64_t results);

}  // namespace gpulog::kernels::gpu
