#pragma once

#include <bit>
#include <cstdint>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

#include "storage/sets/slot_table.hpp"

namespace gpulog::storage {

/// The slots of a cache line, each read once. A worker decides by one reading whether a value is there and which slot
/// is free: with two, another one could put the value into the free slot in between, and it would be inserted twice.
template <class Slot>
class line_reading {
  static constexpr unsigned bits_per_slot = sizeof(Slot) / sizeof(std::uint32_t);

 public:
  /// The first slot of a mask.
  static std::uint64_t first_slot(std::uint32_t mask) {
    return static_cast<std::uint64_t>(std::countr_zero(mask)) / bits_per_slot;
  }

#if defined(__SSE2__) && !defined(__SANITIZE_THREAD__)
  explicit line_reading(const Slot* slots) {
    for (int part = 0; part < 4; ++part) {
      parts_[part] = _mm_load_si128(reinterpret_cast<const __m128i*>(slots) + part);
      // Nothing happens here; but the compiler may not read the slots again instead of keeping them.
      __asm__ volatile("" : "+x"(parts_[part]));
    }
  }
  /// A mask: the first bit of each slot that is this value. Without a branch: which slot it is can't be predicted.
  [[nodiscard]] std::uint32_t equal(Slot value) const {
    // Compares parts of 32 bits, 16 in all, and packs them to a byte each. (Eight scalar comparisons of 64 bits take
    // twice the instructions.)
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

/// What a line says of a value. Nearly every probe asks one line, so a call would be a part of its cost.
enum class line_answer : std::uint8_t { is_there, is_new, is_full };

template <class Slot>
[[nodiscard]] [[gnu::always_inline]] inline line_answer look_into_line(const Slot* line, Slot value) {
  const line_reading<Slot> seen(line);
  if (seen.equal(value) != 0) return line_answer::is_there;
  return seen.equal(0) != 0 ? line_answer::is_new : line_answer::is_full;
}

/// Puts a value that is not 0 into the first free slot of a line that has no such value.
/// @return is_new: it was not there, and is now
template <class Access, class Slot>
[[gnu::always_inline]] inline line_answer insert_into_line(Slot* line, Slot value) {
  while (true) {
    const line_reading<Slot> seen(line);
    if (seen.equal(value) != 0) return line_answer::is_there;
    const std::uint32_t free = seen.equal(0);
    if (free == 0) return line_answer::is_full;
    // Slots are written once and lines fill from the front. So whoever put the value behind this slot had seen it
    // taken, and two workers with the same value meet here; who loses looks again.
    Slot expected = 0;
    if (Access::replace(line[line_reading<Slot>::first_slot(free)], expected, value)) return line_answer::is_new;
    if (expected == value) return line_answer::is_there;
  }
}

/// A table whose slots are compared a line at a time. A full line leads to the next.
template <class KeyOf, class Slot>
class line_table : public slot_table<KeyOf, Slot> {
 public:
  using slot_table<KeyOf, Slot>::slot_table;

 protected:
  /// Whether a value that is not 0 stands in its line, which begins at `at`, or in one behind it.
  [[nodiscard]] bool holds(std::uint64_t at, Slot value) const {
    for (;; at = next(at)) {
      const line_answer answer = look_into_line(this->slots() + at, value);
      if (answer != line_answer::is_full) return answer == line_answer::is_there;
    }
  }

  /// @return whether it was not there
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
