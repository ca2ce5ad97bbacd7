#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <utility>
#include <vector>

#include "backend/array.hpp"
#include "backend/piece_runner.hpp"
#include "support/long_vector.hpp"

namespace gpulog::storage {

/// The key of elements that a counting sort omits.
constexpr std::uint32_t no_key = UINT32_MAX;

/// Groups elements 0 to n - 1 by key and keeps the order of elements with equal keys: a counting sort by several
/// workers after a first pass over the upper bits of the keys.
/// @param key_of returns an element's key, below `keys`, or no_key
/// @param room receives the number of elements with a key before any element is placed
/// @param place receives each element and its place
/// @return by key, with one extra entry: start of its elements
/// @throws backend::memory_exceeded
template <class KeyOf, class Room, class Place>
backend::array<std::uint32_t> counting_sort(const backend::piece_runner& workers, backend::memory_resource& resource,
                                            std::uint32_t n, std::uint64_t keys, const KeyOf& key_of, const Room& room,
                                            const Place& place) {
  backend::array<std::uint32_t> first(resource, keys + 2);
  const std::uint64_t ranges = workers.ranges(n);
  if (ranges == 1) {
    std::uint32_t* const begin = first.data() + 1;  // moves to the end of each key
    for (std::uint32_t i = 0; i < n; ++i) {
      const std::uint32_t key = key_of(i);
      if (key != no_key) ++begin[key + 1ULL];
    }
    for (std::uint64_t key = 0; key < keys; ++key) begin[key + 1] += begin[key];
    room(begin[keys]);
    for (std::uint32_t i = 0; i < n; ++i) {
      const std::uint32_t key = key_of(i);
      if (key != no_key) place(i, begin[key]++);
    }
    return first;
  }
  constexpr std::uint64_t most_buckets = 256;
  const int shift =
      std::max(0, static_cast<int>(std::bit_width(keys)) - static_cast<int>(std::bit_width(most_buckets - 1)));
  const std::uint64_t buckets = (keys >> shift) + 1;
  long_vector<std::uint32_t> places(ranges * buckets);
  workers.for_each_range(n, [&](std::uint64_t range, std::uint64_t begin, std::uint64_t end) {
    std::uint32_t* const own = places.data() + range * buckets;
    for (std::uint64_t i = begin; i < end; ++i) {
      const std::uint32_t key = key_of(static_cast<std::uint32_t>(i));
      if (key != no_key) ++own[key >> shift];
    }
  });
  long_vector<std::uint32_t> bucket_first(buckets + 1);
  std::uint32_t total = 0;
  for (std::uint64_t bucket = 0; bucket < buckets; ++bucket) {
    bucket_first[bucket] = total;
    for (std::uint64_t range = 0; range < ranges; ++range)
      total += std::exchange(places[range * buckets + bucket], total);
  }
  bucket_first[buckets] = total;
  room(total);
  backend::array<std::uint32_t> by_bucket(resource, total, backend::fresh_memory::anything);
  workers.for_each_range(n, [&](std::uint64_t range, std::uint64_t begin, std::uint64_t end) {
    std::uint32_t* const own = places.data() + range * buckets;
    for (std::uint64_t i = begin; i < end; ++i) {
      const std::uint32_t key = key_of(static_cast<std::uint32_t>(i));
      if (key != no_key) by_bucket[own[key >> shift]++] = static_cast<std::uint32_t>(i);
    }
  });
  workers.run(buckets, [&](std::uint64_t bucket) {
    const std::uint64_t first_key = bucket << shift;
    const std::uint64_t last_key = std::min(keys, (bucket + 1) << shift);
    std::uint32_t* const begin = first.data() + 1;  // moves to the end of each key
    for (std::uint32_t i = bucket_first[bucket]; i < bucket_first[bucket + 1]; ++i) {
      const std::uint32_t key = key_of(by_bucket[i]);
      if (key + 1ULL < last_key) ++begin[key + 1ULL];
    }
    if (first_key < last_key) begin[first_key] = bucket_first[bucket];
    for (std::uint64_t key = first_key; key + 1 < last_key; ++key) begin[key + 1] += begin[key];
    for (std::uint32_t i = bucket_first[bucket]; i < bucket_first[bucket + 1]; ++i)
      place(by_bucket[i], begin[key_of(by_bucket[i])]++);
  });
  return first;
}

}  // namespace gpulog::storage
