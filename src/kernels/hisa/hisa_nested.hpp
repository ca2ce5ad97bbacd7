#pragma once

#include <cstdint>

#include "backend/gpu/device.hpp"
#include "kernels/join/nested_program.hpp"
#include "storage/hisa/hisa_relation.hpp"

/// Joins of several atoms as nested loops over hash-indexed sorted arrays, a thread an outer tuple: what the article
/// compares its temporarily-materialised joins with (section 5.2). The results of each outer tuple are counted first,
/// so that they are then written without an atomic operation.
namespace gpulog::kernels::gpu {

using hisa_body = nested_body<storage::gpu::hisa_run_view, storage::gpu::hisa_set_view>;

struct hisa_nest {
  hisa_body body;
  std::uint64_t first_row = 0;  ///< of the body's outer rows
  std::uint64_t rows = 0;
  std::uint64_t* places = nullptr;  ///< by row: results, when counting; those of the rows before, when filling
  storage::gpu::candidate_view target;
  std::uint32_t* fault = nullptr;
};

void count_nested(const backend::gpu::device_context& context, const hisa_nest& nest);
/// Writes all results behind the target's tail, and moves it.
/// @param results that were counted
void fill_nested(const backend::gpu::device_context& context, const hisa_nest& nest, std::uint64_t results);

}  // namespace gpulog::kernels::gpu
