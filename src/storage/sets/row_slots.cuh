#pragma once

#include <cstdint>

#include "backend/gpu/wave.hpp"
#include "storage/relation/views.hpp"

/// A hash table of rows, for tuples wider than a slot. A slot is free, claimed by the thread that stores the row, or
/// has the number of the row; claimed slots and slots with a row have a fingerprint of the tuple.
namespace gpulog::storage::gpu {

/// Stores a tuple as row `row`.
template <class Value>
__device__ void store_tuple(const set_view& set, std::uint64_t row, const Value& value) {
  for (std::uint32_t c = 0; c < set.arity; ++c) set.columns[c][row] = value(c);
}

/// Returns whether the row of a slot is the tuple. A different multiprocessor may have stored the row meanwhile.
template <class Value>
[[nodiscard]] __device__ bool is_row_of(const set_view& set, std::uint64_t slot, const Value& value) {
  const std::uint64_t row = (slot & row_mask) - 1;
  bool same = true;
  for (std::uint32_t c = 0; c < set.arity && same; ++c)
    same = backend::gpu::load_past_first_cache(set.columns[c] + row) == value(c);
  return same;
}

[[nodiscard]] __device__ inline bool is_claimed(std::uint64_t slot) { return (slot & row_mask) == claimed_row; }

/// Returns whether the set contains the tuple. A tuple that is being inserted may be missed.
template <class Value>
[[nodiscard]] __device__ bool contains_row(const set_view& set, const Value& value) {
  const std::uint64_t hash = set.tuple_hash(value);
  const std::uint64_t fingerprint = hash << row_bits;
  for (std::uint64_t at = scale(hash, set.capacity);; at = at + 1 == set.capacity ? 0 : at + 1) {
    const std::uint64_t seen = *static_cast<volatile std::uint64_t*>(set.slots + at);
    if (seen == 0) return false;
    if ((seen & ~row_mask) == fingerprint && !is_claimed(seen) && is_row_of(set, seen, value)) return true;
  }
}

/// Inserts a tuple, and stores it as a row if it is new. A thread that finds its fingerprint in a claimed slot waits
/// for the row. Claiming, storing and publishing are one turn of the loop, so that a wave whose threads run in lockstep
/// does not wait for itself.
/// @param take_row returns the number of a new row
/// @return whether the tuple is new
template <class Value, class TakeRow>
__device__ bool insert_row(const set_view& set, const Value& value, const TakeRow& take_row) {
  const std::uint64_t hash = set.tuple_hash(value);
  const std::uint64_t fingerprint = hash << row_bits;
  std::uint64_t at = scale(hash, set.capacity);
  bool is_new = false;
  for (bool is_done = false; !is_done;) {
    auto* const slot = reinterpret_cast<unsigned long long*>(set.slots + at);
    std::uint64_t seen = *static_cast<volatile unsigned long long*>(slot);
    if (seen == 0) {
      seen = atomicCAS(slot, 0ULL, static_cast<unsigned long long>(fingerprint | claimed_row));
      if (seen == 0) {
        const std::uint64_t row = take_row();
        store_tuple(set, row, value);
        __threadfence();
        atomicExch(slot, static_cast<unsigned long long>(fingerprint | (row + 1)));
        is_new = is_done = true;
      }
    }
    if (is_done) continue;
    const bool is_alike = (seen & ~row_mask) == fingerprint;
    if (is_alike && is_claimed(seen)) {
      backend::gpu::pause();
    } else if (is_alike && is_row_of(set, seen, value)) {
      is_done = true;
    } else {
      at = at + 1 == set.capacity ? 0 : at + 1;
    }
  }
  return is_new;
}

}  // namespace gpulog::storage::gpu
