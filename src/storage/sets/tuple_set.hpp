#pragma once

#include <bit>
#include <concepts>
#include <cstdint>

#include "backend/piece_runner.hpp"
#include "storage/sets/access.hpp"
#include "support/ids.hpp"

namespace gpulog::storage {

/// Maximum number of candidates that a worker offers at a time.
constexpr std::uint32_t tile_rows = 512;

/// Scratch space of one worker.
struct insert_scratch {
  std::uint64_t keys[tile_rows];
  std::uint64_t homes[tile_rows];
};

/// Words of a bitmap of values: bit b of bits[numbers[i]] represents the value 64 * numbers[i] + b.
struct bitmap_words {
  const std::uint32_t* numbers;
  const std::uint64_t* bits;

  /// Calls use(value) for each value of the first n words.
  template <class Use>
  void for_each(std::uint32_t n, const Use& use) const {
    for (std::uint32_t i = 0; i < n; ++i) {
      for (std::uint64_t left = bits[numbers[i]]; left != 0; left &= left - 1)
        use(numbers[i] * 64 + static_cast<word>(std::countr_zero(left)));
    }
  }
};

/// A set of tuples of one or two columns. Thread-safe, except that growing requires all workers to be idle. insert()
/// takes n <= tile_rows tuples, one array per column; insert_words() takes tuples (first, y) with the values y in n
/// words, and no other worker may insert tuples with this first value at the same time. Both require has_room(tuples)
/// for each worker. They pack new tuples, in order, into the scratch's keys and return their number. contains() sets
/// found[i] to whether tuple i is in the set; its values may exceed the bounds.
template <class Set>
concept tuple_set = requires(Set& set, const Set& known, const word* const* values, std::uint32_t n, word first,
                             const bitmap_words& words, insert_scratch& scratch, std::uint8_t* found,
                             const backend::piece_runner& helpers) {
  { Set::name } -> std::convertible_to<const char*>;
  { known.bytes() } -> std::same_as<std::uint64_t>;
  { known.has_room(std::uint64_t{n}) } -> std::same_as<bool>;
  set.grow(std::uint64_t{n}, helpers);
  { set.template insert<exclusive_access>(values, n, scratch) } -> std::same_as<std::uint32_t>;
  { set.template insert<concurrent_access>(values, n, scratch) } -> std::same_as<std::uint32_t>;
  { set.template insert_words<exclusive_access>(first, words, n, scratch) } -> std::same_as<std::uint32_t>;
  { set.template insert_words<concurrent_access>(first, words, n, scratch) } -> std::same_as<std::uint32_t>;
  known.contains(values, n, scratch, found);
};

}  // namespace gpulog::storage
