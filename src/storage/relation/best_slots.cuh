#pragma once

#include <cstdint>

#include "storage/relation/views.hpp"

/// The best value of each key, offered by any number of threads at a time (device_best.hpp). What a phase offers goes
/// into `best` alone, so that `shown` tells what the relation has until the phase ends.
namespace gpulog::storage::gpu {

/// The columns but that of the value, two at most.
template <class Value>
__device__ std::uint64_t best_key(const set_view& set, const Value& value) {
  std::uint64_t key = 0;
  for (std::uint32_t c = 0; c < set.arity; ++c) {
    if (c != set.value_column) key = key << 32 | value(c);
  }
  return key;
}

/// The key's slot, or where it would stand. The key that looks like a free slot has one of its own behind the others.
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

/// @return whether the tuple's key has got better for the first time in this phase: then it needs a row. The row's
/// value is written when the phase ends.
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
