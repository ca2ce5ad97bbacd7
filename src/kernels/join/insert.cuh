#pragma once

#include <cstdint>

#include "storage/relation/best_slots.cuh"
#include "storage/relation/views.hpp"
#include "storage/sets/packed_slots.cuh"
#include "storage/sets/row_slots.cuh"

/// Insertion of tuples by kernels.
namespace gpulog::kernels::gpu {

using storage::gpu::insert_packed;
using storage::gpu::insert_row;
using storage::gpu::offer_best;
using storage::gpu::set_view;
using storage::gpu::store_tuple;

/// Stores a packed tuple as row `row`.
__device__ inline void store_packed(const set_view& set, std::uint64_t row, std::uint64_t key) {
  if (set.arity == 1) {
    set.columns[0][row] = static_cast<word>(key);
  } else {
    set.columns[0][row] = static_cast<word>(key >> 32);
    set.columns[1][row] = static_cast<word>(key);
  }
}

}  // namespace gpulog::kernels::gpu
