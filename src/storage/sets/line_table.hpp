#pragma once

#include <bit>
#include <cstdint>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

#include "storage/sets/slot_table.hpp"

namespace gpulog::storage {

/// A snapshot of the slots in a cache line. A worker checks for a value and finds a free slot in the same snapshot:
/// with two snapshots, another worker could insert the value in between, and the table would contain it twice.
template <class Slot>
class line_reading {
  static constexpr unsigned bits_per_slot = sizeof(Slot) / sizeof(std::uint32_t);

 public:
  /// Returns the first slot of a mask.
  static std::uint64_t first_slot(std::uint32_t mask) {
    return static_cast<std::uint64_t>(std::countr_zero(mask)) / bits_per_slot;
  }

#if defined(__SSE2__) && !defined(__SANITIZE_THREAD__)
  explicit line_reading(const Slot* slots) {
    for (int part = 0; part < 4; ++part) {
      parts_[part] = _mm_load_si128(reinterpret_cast<const __m128i*>(slots) + part);
      // Prevents the compiler from reading the slots again instead of keeping them in registers.
      __asm__ volatile("" : "+x"(parts_[part]));
    }
  }
  /// Returns a mask: the first bit of each slot that equals the value. Free of branches, which would be unpredictable.
  [[nodiscard]] std::uint32_t equal(Slot value) const {
    // Compares 16 parts of 32 bits each and packs the results to bytes. (Eight scalar comparisons of 64 bits take twice
    // the number of instructions.)
    __m128i wanted;
    if constexpr (bits_per_slot == 1) {
      wanted = _mm_set1_epi32(static_cast<int>(value));
    } else {
      wanted = _mm_set1_epi64x(static_cast<long long>(value));
    }
    const __m128i front = _mm_packs_epi32(_mm_cmpeq_epi32(parts_[0], wanted), _mm_cmpeq_epi32(parts_[1], wanted));
    const __m128i back = _mm_packs_epi32(_mm_cmpeq_epi32(parts_[2], wanted), _mm_cmpeq_epi32(parts_[3], wanted));
    const auto equal_parts = static_cast<std::uint32_t>(_mm_movemask_epi8(_mm_packs_epi16(front, back)));
    return bits_per_slot == 1 ? equal_parts : equal_parts & (equal_parts >> 1) & 0x5555;
  }

 private:
  __m128i parts_[4];
#else
  explicit line_reading(const Slot* slots) {
    for (std::uint32_t k = 0; k < size; ++k) slots_[k] = __atomic_load_n(&slots[k], __ATOMIC_RELAXED);
  }
  [[nodiscard]] std::uint32_t equal(Slot value) const {
    std::uint32_t mask = 0;
    for (std::uint32_t k = 0; k < size; ++k) {
      mask |= static_cast<std::uint32_t>(slots_[k] == value) << (bits_per_slot * k);
    }
    return mask;
  }

 private:
  static constexpr std::uint32_t size = 64 / sizeof(Slot);
  Slot slots_[size];
#endif
};

/// The result of a search in a line. Inlined: nearly every probe needs one line, so a call would add to its cost.
enum class line_answer : std::uint8_t { is_there, is_new, is_full };

template <class Slot>
[[nodiscard]] [[gnu::always_inline]] inline line_answer look_into_line(const Slot* line, Slot value) {
  const line_reading<Slot> seen(line);
  if (seen.equal(value) != 0) return line_answer::is_there;
  return seen.equal(0) != 0 ? line_answer::is_new : line_answer::is_full;
}

/// Inserts a nonzero value into the first free slot of a line unless the line contains the value.
/// @return is_new if the value was inserted
template <class Access, class Slot>
[[gnu::always_inline]] inline line_answer insert_into_line(Slot* line, Slot value) {
  while (true) {
    const line_reading<Slot> seen(line);
    if (seen.equal(value) != 0) return line_answer::is_there;
    const std::uint32_t free = seen.equal(0);
    if (free == 0) return line_answer::is_full;
    // Slots are written once and lines fill from the front. Therefore a worker that inserted the value after this slot
    // had seen the slot taken, and two workers with the same value compete here; the loser checks again.
    Slot expected = 0;
    if (Access::replace(line[line_reading<Slot>::first_slot(free)], expected, value)) return line_answer::is_new;
    if (expected == value) return line_answer::is_there;
  }
}

/// A table whose slots are compared one line at a time. A full line leads to the next line.
template <class KeyOf, class Slot>
class line_table : public slot_table<KeyOf, Slot> {
 public:
  using slot_table<KeyOf, Slot>::slot_table;

 protected:
  /// Returns whether a nonzero value is in its line, which starts at `at`, or in a following line.
  [[nodiscard]] bool holds(std::uint64_t at, Slot value) const {
    for (;; at = next(at)) {
      const line_answer answer = look_into_line(this->slots() + at, value);
      if (answer != line_answer::is_full) return answer == line_answer::is_there;
    }
  }

  /// @return whether the value was inserted
  template <class Access>
  bool insert_at(Slot* slots, std::uint64_t at, Slot value) const {
    for (;; at = next(at)) {
      const line_answer answer = insert_into_line<Access>(slots + at, value);
      if (answer != line_answer::is_full) return answer == line_answer::is_new;
    }
  }

 private:
  [[nodiscard]] std::uint64_t next(std::uint64_t at) const {
    return at + this->line == this->capacity() ? 0 : at + this->line;
  }
};

}  // namespace gpulog::storage
