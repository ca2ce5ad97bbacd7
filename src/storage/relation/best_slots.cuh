#pragma once

#include <cstdint>

#include "storage/relation/views.hpp"

/// The best value per key; any number of threads may offer values (device_best.hpp). During a phase, offers go only
/// into `best`, while `shown` keeps the relation's values until the phase ends.
namespace gpulog::storage::gpu {

/// Packs the columns except the value; at most two.
template <class Value>
__device__ std::uint64_t best_key(const set_view& set, const Value& value) {
  std::uint64_t key = 0;
  for (std::uint32_t c = 0; c < set.arity; ++c) {
    if (c != set.value_column) key = key << 32 | value(c);
  }
  return key;
}

/// Returns the slot with the key, or the free slot for the key. The key equal to free_key has a slot of its own after
/// the table.
__device__ inline std::uint64_t slot_of_key(const set_view& set, std::uint64_t key) {
  if (key == set_view::free_key) return set.capacity;
  for (std::uint64_t at = scale(mix(key), set.capacity);; at = at + 1 == set.capacity ? 0 : at + 1) {
    const std::uint64_t seen = set.slots[at];
    if (seen == key || seen == set_view::free_key) return at;
  }
}

__device__ inline std::uint64_t claim_slot(const set_view& set, std::uint64_t key) {
  if (key == set_view::free_key) return set.capacity;
  for (std::uint64_t at = scale(mix(key), set.capacity);; at = at + 1 == set.capacity ? 0 : at + 1) {
    auto* const slot = reinterpret_cast<unsigned long long*>(set.slots + at);
    std::uint64_t seen = *static_cast<volatile unsigned long long*>(slot);
    if (seen == set_view::free_key) {
      seen = atomicCAS(slot, static_cast<unsigned long long>(set_view::free_key), static_cast<unsigned long long>(key));
      if (seen == set_view::free_key) return at;
    }
    if (seen == key) return at;
  }
}

/// Offers a tuple.
/// @return whether the key's value improved for the first time in this phase, so that the tuple needs a row; the row's
///   value is written when the phase ends
template <class Value>
__device__ bool offer_best(const set_view& set, const Value& value) {
  const std::uint64_t at = claim_slot(set, best_key(set, value));
  const std::uint64_t rank = value(set.value_column) ^ set.flip;
  auto* const best = reinterpret_cast<unsigned long long*>(set.best + at);
  if (*static_cast<volatile unsigned long long*>(best) <= rank) return false;
  const std::uint64_t before = atomicMin(best, static_cast<unsigned long long>(rank));
  return before > rank && before == set.shown[at];
}

template <class Value>
__device__ bool contains_best(const set_view& set, const Value& value) {
  const std::uint64_t rank = value(set.value_column) ^ set.flip;
  return set.shown[slot_of_key(set, best_key(set, value))] == rank;
}

}  // namespace gpulog::storage::gpu
