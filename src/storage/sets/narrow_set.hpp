#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

#include "storage/sets/bit_set.hpp"
#include "storage/sets/slot_table.hpp"
#include "storage/sets/tuple_set.hpp"

namespace gpulog::storage {

/// A slot that is the number of a tuple.
struct numbered_tuple {
  [[nodiscard]] static std::uint64_t key(std::uint32_t slot) { return slot; }
};

/// A set of tuples of one or two columns whose values are known to be below bounds, of which there are fewer than 2^32
/// combinations: a hash table as packed_set, with slots of half the size and lines of sixteen. A slot is the number of
/// the tuple, counted from 1 row by row of the matrix of all combinations; 0 marks a free one.
class narrow_set : public slot_table<numbered_tuple, std::uint32_t> {
 public:
  narrow_set(backend::memory_resource& resource, const bit_matrix_shape& shape)
      : slot_table(resource), rows_(shape.rows), columns_(shape.columns), is_unary_(shape.is_unary) {}

  static constexpr const char* name = "narrow";

  /// Whether all combinations can be numbered.
  [[nodiscard]] static bool can_hold(const bit_matrix_shape& shape) {
    return shape.rows <= UINT32_MAX / std::max<std::uint64_t>(1, shape.columns);
  }

  /// All tuples are smaller than the bounds.
  template <class Access>
  std::uint32_t insert(const word* const* values, std::uint32_t n, insert_scratch& scratch) {
    const word* const first = values[0];
    if (is_unary_) {
      for (std::uint32_t i = 0; i < n; ++i) scratch.keys[i] = std::uint64_t{first[i]} + 1;
      return insert_numbers<Access>(n, scratch, [first](std::uint32_t i, std::uint64_t) { return first[i]; });
    }
    const word* const second = values[1];
    for (std::uint32_t i = 0; i < n; ++i) scratch.keys[i] = number_of(first[i], second[i]);
    return insert_numbers<Access>(n, scratch,
                                  [=](std::uint32_t i, std::uint64_t) { return pack(first[i], second[i]); });
  }
  template <class Access>
  std::uint32_t insert_words(word first, const bitmap_words& words, std::uint32_t n, insert_scratch& scratch) {
    std::uint32_t count = 0;
    words.for_each(n, [&](word value) { scratch.keys[count++] = number_of(first, value); });
    const std::uint64_t least = number_of(first, 0);
    return insert_numbers<Access>(count, scratch, [=](std::uint32_t, std::uint64_t number) {
      return pack(first, static_cast<word>(number - least));
    });
  }

  void contains(const word* const* values, std::uint32_t n, insert_scratch& scratch, std::uint8_t* found) const {
    const std::uint32_t* const slots = this->slots();
    for (std::uint32_t i = 0; i < n; ++i) {
      const word last = values[is_unary_ ? 0 : 1][i];
      const bool is_within = last < columns_ && (is_unary_ || values[0][i] < rows_);
      scratch.keys[i] = !is_within ? 0 : is_unary_ ? std::uint64_t{last} + 1 : number_of(values[0][i], last);
      scratch.homes[i] = home(scratch.keys[i]);
    }
    for (std::uint32_t i = 0; i < std::min(n, prefetch_distance); ++i) __builtin_prefetch(slots + scratch.homes[i]);
    for (std::uint32_t i = 0; i < n; ++i) {
      if (i + prefetch_distance < n) __builtin_prefetch(slots + scratch.homes[i + prefetch_distance]);
      found[i] = 0;
      if (scratch.keys[i] == 0) continue;
      for (std::uint64_t at = scratch.homes[i];; at = next(at)) {
        const line_reading seen(slots + at);
        found[i] = seen.equal(static_cast<std::uint32_t>(scratch.keys[i])) != 0 ? 1 : 0;
        if (found[i] != 0 || seen.equal(0) != 0) break;
      }
    }
  }

 private:
  [[nodiscard]] std::uint64_t number_of(word first, word second) const { return first * columns_ + second + 1; }
  [[nodiscard]] std::uint64_t next(std::uint64_t at) const { return at + line == capacity() ? 0 : at + line; }

  /// Inserts the numbers in the scratch's keys. The tuples of those that were not there are moved, in order, to their
  /// front. @param tuple_of(i, number) the packed tuple
  template <class Access, class TupleOf>
  std::uint32_t insert_numbers(std::uint32_t n, insert_scratch& scratch, const TupleOf& tuple_of) {
    for (std::uint32_t i = 0; i < n; ++i) scratch.homes[i] = home(scratch.keys[i]);
    std::uint32_t fresh = 0;
    std::uint32_t* const slots = this->slots();
    for (std::uint32_t i = 0; i < std::min(n, prefetch_distance); ++i) __builtin_prefetch(slots + scratch.homes[i], 1);
    for (std::uint32_t i = 0; i < n; ++i) {
      if (i + prefetch_distance < n) __builtin_prefetch(slots + scratch.homes[i + prefetch_distance], 1);
      const std::uint64_t number = scratch.keys[i];
      const bool inserted = insert_at<Access>(slots, scratch.homes[i], static_cast<std::uint32_t>(number));
      scratch.keys[fresh] = tuple_of(i, number);
      fresh += inserted ? 1 : 0;
    }
    add_count<Access>(fresh);
    return fresh;
  }

  static_assert(line == 16);
  /// The slots of a line, each read once, as packed_set reads its own.
  class line_reading {
   public:
#if defined(__SSE2__) && !defined(__SANITIZE_THREAD__)
    explicit line_reading(const std::uint32_t* slots) {
      for (int part = 0; part < 4; ++part) {
        parts_[part] = _mm_load_si128(reinterpret_cast<const __m128i*>(slots) + part);
        __asm__ volatile("" : "+x"(parts_[part]));
      }
    }
    /// Bit k is set where slot k is this value.
    [[nodiscard]] std::uint32_t equal(std::uint32_t value) const {
      const __m128i wanted = _mm_set1_epi32(static_cast<int>(value));
      const __m128i front = _mm_packs_epi32(_mm_cmpeq_epi32(parts_[0], wanted), _mm_cmpeq_epi32(parts_[1], wanted));
      const __m128i back = _mm_packs_epi32(_mm_cmpeq_epi32(parts_[2], wanted), _mm_cmpeq_epi32(parts_[3], wanted));
      return static_cast<std::uint32_t>(_mm_movemask_epi8(_mm_packs_epi16(front, back)));
    }

   private:
    __m128i parts_[4];
#else
    explicit line_reading(const std::uint32_t* slots) {
      for (std::uint32_t k = 0; k < line; ++k) slots_[k] = __atomic_load_n(&slots[k], __ATOMIC_RELAXED);
    }
    [[nodiscard]] std::uint32_t equal(std::uint32_t value) const {
      std::uint32_t mask = 0;
      for (std::uint32_t k = 0; k < line; ++k) mask |= static_cast<std::uint32_t>(slots_[k] == value) << k;
      return mask;
    }

   private:
    std::uint32_t slots_[line];
#endif
  };

  /// As packed_set::insert_at.
  template <class Access>
  bool insert_at(std::uint32_t* slots, std::uint64_t at, std::uint32_t number) const {
    while (true) {
      const line_reading seen(slots + at);
      if (seen.equal(number) != 0) return false;
      const std::uint32_t free = seen.equal(0);
      if (free == 0) {
        at = next(at);
        continue;
      }
      std::uint32_t expected = 0;
      if (Access::replace(slots[at + static_cast<std::uint64_t>(std::countr_zero(free))], expected, number))
        return true;
      if (expected == number) return false;
    }
  }

  std::uint64_t rows_;
  std::uint64_t columns_;
  bool is_unary_;
};
static_assert(tuple_set<narrow_set>);

}  // namespace gpulog::storage
