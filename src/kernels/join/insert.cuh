#pragma once

#include <cstdint>

#include "storage/relation/best_slots.cuh"
#include "storage/relation/views.hpp"
#include "storage/sets/packed_slots.cuh"

/// Insertion of tuples of one or two words by kernels.
namespace gpulog::kernels::gpu {

using storage::gpu::insert_packed;
using storage::gpu::offer_best;
using storage::gpu::set_view;

/// Stores a packed tuple as row `row`.
__device__ inline void store_packed(const set_view& set, std::uint64_t row, std::uint64_t key) {
  if (set.arity == 1) {
    set.columns[0][row] = static_cast<word>(key);
  } else {
    set.columns[0][row] = static_cast<word>(key >> 32);
    set.columns[1][row] = static_cast<word>(key);
  }
}

/// Stores a tuple as row `row`.
template <class Value>
__device__ void store_tuple(const set_view& set, std::uint64_t row, const Value& value) {
  for (std::uint32_t c = 0; c < set.arity; ++c) set.columns[c][row] = value(c);
}

}  // namespace gpulog::kernels::gpu
