#pragma once

#include <cstdint>

#include "storage/relation/views.hpp"

/// Insertion of packed tuples by any number of threads: into a bit matrix, a hash table of words, or a hash table of
/// tuples. Most candidates are duplicates, so a plain load comes first. A slot only changes from free to a key, and a
/// bit only from 0 to 1, so a stale value is safe.
namespace gpulog::storage::gpu {

__device__ inline bool insert_bit(const set_view& set, std::uint64_t key) {
  std::uint32_t* const place = set.bits + set.bit_word(key);
  const std::uint32_t own = set_view::bit_mask(key);
  if ((*static_cast<volatile std::uint32_t*>(place) & own) != 0) return false;
  return (atomicOr(place, own) & own) == 0;
}

__device__ inline bool insert_word(const set_view& set, std::uint64_t key) {
  const std::uint64_t number = set.word_number(key);
  const std::uint64_t own = 1ULL << (key % packed_word::bits);
  for (std::uint64_t at = scale(mix(number), set.capacity);; at = at + 1 == set.capacity ? 0 : at + 1) {
    auto* const slot = reinterpret_cast<unsigned long long*>(set.slots + at);
    std::uint64_t seen = *static_cast<volatile unsigned long long*>(slot);
    if (seen == 0) {
      seen = atomicCAS(slot, 0ULL, static_cast<unsigned long long>((number << packed_word::bits) | own));
      if (seen == 0) return true;
    }
    if (seen >> packed_word::bits != number) continue;
    if ((seen & own) != 0) return false;
    return (atomicOr(slot, static_cast<unsigned long long>(own)) & own) == 0;
  }
}

/// @return whether the tuple is new
__device__ inline bool insert_packed(const set_view& set, std::uint64_t key) {
  if (set.bits != nullptr) return insert_bit(set, key);
  if (set.words_per_row != 0) return insert_word(set, key);
  if (key == 0) return atomicExch(set.has_zero, 1U) == 0;
  for (std::uint64_t at = scale(mix(key), set.capacity);; at = at + 1 == set.capacity ? 0 : at + 1) {
    std::uint64_t seen = *static_cast<volatile std::uint64_t*>(set.slots + at);
    if (seen == key) return false;
    if (seen != 0) continue;
    seen = atomicCAS(reinterpret_cast<unsigned long long*>(set.slots + at), 0ULL, key);
    if (seen == 0) return true;
    if (seen == key) return false;
  }
}

__device__ inline bool contains_word(const set_view& set, std::uint64_t key) {
  // Without this test, a value beyond the last column would be found in the next row.
  if (static_cast<word>(key) / packed_word::bits >= set.words_per_row) return false;
  const std::uint64_t number = set.word_number(key);
  for (std::uint64_t at = scale(mix(number), set.capacity);; at = at + 1 == set.capacity ? 0 : at + 1) {
    const std::uint64_t seen = set.slots[at];
    if (seen == 0) return false;
    if (seen >> packed_word::bits == number) return (seen >> (key % packed_word::bits) & 1) != 0;
  }
}

__device__ inline bool contains_packed(const set_view& set, std::uint64_t key) {
  if (set.bits != nullptr) {
    const bool is_inside = (static_cast<word>(key) >> 5) < set.stride && set.bit_word(key) < set.capacity;
    return is_inside && (set.bits[set.bit_word(key)] & set_view::bit_mask(key)) != 0;
  }
  if (set.words_per_row != 0) return contains_word(set, key);
  if (key == 0) return *set.has_zero != 0;
  for (std::uint64_t at = scale(mix(key), set.capacity);; at = at + 1 == set.capacity ? 0 : at + 1) {
    const std::uint64_t seen = set.slots[at];
    if (seen == key) return true;
    if (seen == 0) return false;
  }
}

}  // namespace gpulog::storage::gpu
