#pragma once

#include <cstdint>

#include "storage/cuda/views.hpp"

/// Insertion of tuples of one or two words, by kernels that produce them.
namespace gpulog::kernels::cuda {

using storage::mix;
using storage::scale;
using storage::cuda::set_view;

/// Inserts a packed tuple. @return whether it was new
__device__ inline bool insert_packed(const set_view& set, std::uint64_t key) {
  if (set.bits != nullptr) {
    std::uint32_t* const place = set.bits + set.bit_word(key);
    const std::uint32_t own = set_view::bit_mask(key);
    // As below: bits are only ever set.
    if ((*static_cast<volatile std::uint32_t*>(place) & own) != 0) return false;
    return (atomicOr(place, own) & own) == 0;
  }
  if (key == 0) return atomicExch(set.has_zero, 1U) == 0;
  for (std::uint64_t at = scale(mix(key), set.capacity);; at = at + 1 == set.capacity ? 0 : at + 1) {
    // Most candidates are duplicates: a plain load first. A slot only ever changes from free to a key, so a stale value
    // is safe.
    std::uint64_t seen = *static_cast<volatile std::uint64_t*>(set.slots + at);
    if (seen == key) return false;
    if (seen != 0) continue;
    seen = atomicCAS(reinterpret_cast<unsigned long long*>(set.slots + at), 0ULL, key);
    if (seen == 0) return true;
    if (seen == key) return false;
  }
}

/// Writes a packed tuple into its row.
__device__ inline void store_packed(const set_view& set, std::uint64_t row, std::uint64_t key) {
  if (set.arity == 1) {
    set.columns[0][row] = static_cast<word>(key);
  } else {
    set.columns[0][row] = static_cast<word>(key >> 32);
    set.columns[1][row] = static_cast<word>(key);
  }
}

}  // namespace gpulog::kernels::cuda
