#pragma once

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstdint>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

#include "backend/array.hpp"
#include "storage/sets/hash.hpp"
#include "storage/sets/slot_table.hpp"
#include "storage/sets/tuple_set.hpp"

namespace gpulog::storage {

/// A slot that is the tuple itself.
struct packed_tuple {
  [[nodiscard]] static std::uint64_t key(std::uint64_t slot) { return slot; }
};

/// A set of tuples of at most 64 bits: open addressing, probed by lines of eight slots. The slot is the tuple. 0 marks
/// a free slot, and the tuple 0 is a flag beside the table.
class packed_set : public slot_table<packed_tuple> {
 public:
  /// @param width columns, 1 or 2
  explicit packed_set(backend::memory_resource& resource, std::uint32_t width = 2)
      : slot_table(resource), width_(width) {}

  static constexpr const char* name = "hash";

  template <class Access>
  std::uint32_t insert(const word* const* values, std::uint32_t n, insert_scratch& scratch) {
    pack_keys(values, n, scratch.keys);
    return insert<Access>(scratch.keys, n, scratch.homes);
  }
  template <class Access>
  std::uint32_t insert_words(word first, const bitmap_words& words, std::uint32_t n, insert_scratch& scratch) {
    std::uint32_t count = 0;
    words.for_each(n, [&](word value) { scratch.keys[count++] = pack(first, value); });
    return insert<Access>(scratch.keys, count, scratch.homes);
  }
  void contains(const word* const* values, std::uint32_t n, insert_scratch& scratch, std::uint8_t* found) const {
    pack_keys(values, n, scratch.keys);
    contains(scratch.keys, n, scratch.homes, found);
  }

  /// Inserts keys[0..n). Those that were not there are moved, in order, to the front of keys.
  /// @return how many were new. Needs has_room(workers * n) before.
  template <class Access>
  std::uint32_t insert(std::uint64_t* keys, std::uint32_t n, std::uint64_t* homes) {
    for (std::uint32_t i = 0; i < n; ++i) homes[i] = home(keys[i]);
    std::uint32_t fresh = 0;
    std::uint64_t* const slots = this->slots();
    for (std::uint32_t i = 0; i < std::min(n, prefetch_distance); ++i) __builtin_prefetch(slots + homes[i], 1);
    for (std::uint32_t i = 0; i < n; ++i) {
      if (i + prefetch_distance < n) __builtin_prefetch(slots + homes[i + prefetch_distance], 1);
      const std::uint64_t key = keys[i];
      const bool inserted = key == 0 ? !has_zero_.exchange(true) : insert_at<Access>(slots, homes[i], key);
      keys[fresh] = key;
      fresh += inserted ? 1 : 0;
    }
    add_count<Access>(fresh);
    return fresh;
  }

  /// found[i] = whether keys[i] is there.
  void contains(const std::uint64_t* keys, std::uint32_t n, std::uint64_t* homes, std::uint8_t* found) const {
    const std::uint64_t* const slots = this->slots();
    for (std::uint32_t i = 0; i < n; ++i) homes[i] = home(keys[i]);
    for (std::uint32_t i = 0; i < std::min(n, prefetch_distance); ++i) __builtin_prefetch(slots + homes[i]);
    for (std::uint32_t i = 0; i < n; ++i) {
      if (i + prefetch_distance < n) __builtin_prefetch(slots + homes[i + prefetch_distance]);
      if (keys[i] == 0) {
        found[i] = has_zero_.load(std::memory_order_relaxed) ? 1 : 0;
        continue;
      }
      std::uint64_t at = homes[i];
      while (true) {
        const line_reading seen(slots + at);
        found[i] = seen.equal(keys[i]) != 0 ? 1 : 0;
        if (found[i] != 0 || seen.equal(0) != 0) break;
        at = next(at);
      }
    }
  }

 private:
  void pack_keys(const word* const* values, std::uint32_t n, std::uint64_t* keys) const {
    const word* const first = values[0];
    if (width_ == 1) {
      for (std::uint32_t i = 0; i < n; ++i) keys[i] = first[i];
    } else {
      const word* const second = values[1];
      for (std::uint32_t i = 0; i < n; ++i) keys[i] = pack(first[i], second[i]);
    }
  }
  [[nodiscard]] std::uint64_t next(std::uint64_t at) const { return at + line == capacity() ? 0 : at + line; }

  static_assert(line == 8);
  /// The slots of a line, each read once. A worker decides by one reading whether a key is there and which slot is
  /// free: with two, another one could put the key into the free slot in between, and it would be inserted twice.
  class line_reading {
   public:
#if defined(__SSE2__) && !defined(__SANITIZE_THREAD__)
    explicit line_reading(const std::uint64_t* slots) {
      for (int pair = 0; pair < 4; ++pair) {
        pairs_[pair] = _mm_load_si128(reinterpret_cast<const __m128i*>(slots) + pair);
        // Nothing happens here; but the compiler may not read the slots again instead of keeping them.
        __asm__ volatile("" : "+x"(pairs_[pair]));
      }
    }
    /// Bits 2k and 2k + 1 are set where slot k is this value. Without a branch: which slot it is can't be predicted.
    [[nodiscard]] std::uint32_t equal(std::uint64_t value) const {
      // Compares halves of slots, 16 in all, and packs them to a byte each. (Eight scalar comparisons take twice the
      // instructions.)
      const __m128i wanted = _mm_set1_epi64x(static_cast<long long>(value));
      const __m128i front = _mm_packs_epi32(_mm_cmpeq_epi32(pairs_[0], wanted), _mm_cmpeq_epi32(pairs_[1], wanted));
      const __m128i back = _mm_packs_epi32(_mm_cmpeq_epi32(pairs_[2], wanted), _mm_cmpeq_epi32(pairs_[3], wanted));
      const auto halves = static_cast<std::uint32_t>(_mm_movemask_epi8(_mm_packs_epi16(front, back)));
      return halves & (halves >> 1) & 0x5555;
    }

   private:
    __m128i pairs_[4];
#else
    explicit line_reading(const std::uint64_t* slots) {
      for (std::uint32_t k = 0; k < line; ++k) slots_[k] = __atomic_load_n(&slots[k], __ATOMIC_RELAXED);
    }
    [[nodiscard]] std::uint32_t equal(std::uint64_t value) const {
      std::uint32_t mask = 0;
      for (std::uint32_t k = 0; k < line; ++k) mask |= static_cast<std::uint32_t>(slots_[k] == value) << (2 * k);
      return mask;
    }

   private:
    std::uint64_t slots_[line];
#endif
  };
  /// The first slot of such a mask.
  static std::uint64_t first_slot(std::uint32_t mask) { return static_cast<std::uint64_t>(std::countr_zero(mask)) / 2; }

  template <class Access>
  bool insert_at(std::uint64_t* slots, std::uint64_t at, std::uint64_t key) const {
    while (true) {
      const line_reading seen(slots + at);
      if (seen.equal(key) != 0) return false;
      const std::uint32_t free = seen.equal(0);
      if (free == 0) {
        at = next(at);
        continue;
      }
      std::uint64_t& slot = slots[at + first_slot(free)];
      // Slots are written once and lines fill from the front. So whoever put the key behind this slot had seen it
      // taken, and two workers with the same key meet here; who loses looks again.
      std::uint64_t expected = 0;
      if (Access::replace(slot, expected, key)) return true;
      if (expected == key) return false;
    }
  }

  std::uint32_t width_;
  std::atomic<bool> has_zero_{false};
};
static_assert(tuple_set<packed_set>);

}  // namespace gpulog::storage
