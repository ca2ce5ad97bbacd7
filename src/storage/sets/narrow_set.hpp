#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <mutex>
#include <set>
#include <utility>

#include "storage/calibration.hpp"
#include "storage/sets/bit_set.hpp"
#include "storage/sets/line_table.hpp"
#include "storage/sets/tuple_set.hpp"

namespace gpulog::storage {

/// A permutation of the numbers with `bits` bits that mixes them: like mix(), but in fewer bits.
class number_permutation {
 public:
  explicit number_permutation(unsigned bits) : mask_(~std::uint64_t{0} >> (64 - bits)), shift_((bits + 1) / 2) {}
  [[nodiscard]] std::uint64_t operator()(std::uint64_t number) const {
    number ^= number >> shift_;
    number = (number * factor) & mask_;
    number ^= number >> shift_;
    return (number * factor) & mask_;
  }

 private:
  static constexpr std::uint64_t factor = 0xd6e8feb86659fd93ULL;
  std::uint64_t mask_;
  unsigned shift_;
};

/// A set of tuples of one or two columns whose values have known bounds: a hash table like packed_set, with slots of
/// half the size and lines of sixteen. Tuples are numbered in row-major order of the matrix of all combinations, and a
/// permutation mixes the numbers. The upper bits of a mixed number select its line, so a slot stores only the lower
/// bits and the number of lines between the slot and its own line (compact hashing: Cleary 1984; with displacements:
/// Poyias, Raman 2015). 0 marks a free slot. If too many lines are full, the number is stored in an additional set.
class narrow_set : public array_of_slots<std::uint32_t> {
 public:
  using slot = std::uint32_t;

  /// @param room number of tuples that fit
  narrow_set(backend::memory_resource& resource, const bit_matrix_shape& shape, std::uint64_t room = 0)
      : array_of_slots(resource, slots_for(shape, room)),
        rows_(shape.rows),
        columns_(shape.columns),
        is_unary_(shape.is_unary),
        bits_(bits_of(shape)),
        permuted_(bits_) {}

  static constexpr const char* name = "narrow";

  /// Returns the minimum number of slots: as many as needed so that the lower bits of a number fit into a slot.
  /// @return 0 if there are too many combinations
  [[nodiscard]] static std::uint64_t least_slots(const bit_matrix_shape& shape) {
    const unsigned bits = bits_of(shape);
    if (bits > most_bits) return 0;
    return std::max(table_growth::initial_slots, line << (std::max(bits, rest_bits) - rest_bits));
  }
  /// Returns the minimum number of slots for the given number of tuples.
  [[nodiscard]] static std::uint64_t slots_for(const bit_matrix_shape& shape, std::uint64_t tuples) {
    std::uint64_t slots = least_slots(shape);
    while (limit(slots) < tuples) slots = table_growth::next(slots);
    return slots;
  }

  /// All values must be within the bounds.
  template <class Access>
  std::uint32_t insert(const word* const* values, std::uint32_t n, insert_scratch& scratch) {
    const word* const first = values[0];
    if (is_unary_) {
      for (std::uint32_t i = 0; i < n; ++i) {
        scratch.keys[i] = first[i];
        scratch.homes[i] = permuted_(first[i]);
      }
    } else {
      const word* const second = values[1];
      for (std::uint32_t i = 0; i < n; ++i) {
        scratch.keys[i] = pack(first[i], second[i]);
        scratch.homes[i] = permuted_(number_of(first[i], second[i]));
      }
    }
    return insert_numbers<Access>(n, scratch);
  }
  template <class Access>
  std::uint32_t insert_words(word first, const bitmap_words& words, std::uint32_t n, insert_scratch& scratch) {
    std::uint32_t count = 0;
    words.for_each(n, [&](word value) {
      scratch.keys[count] = pack(first, value);
      scratch.homes[count++] = permuted_(number_of(first, value));
    });
    return insert_numbers<Access>(count, scratch);
  }

  void contains(const word* const* values, std::uint32_t n, insert_scratch& scratch, std::uint8_t* found) const {
    for (std::uint32_t i = 0; i < n; ++i) {
      const word last = values[is_unary_ ? 0 : 1][i];
      const bool is_within = last < columns_ && (is_unary_ || values[0][i] < rows_);
      found[i] = is_within ? 1 : 0;
      scratch.homes[i] = is_within ? permuted_(is_unary_ ? last : number_of(values[0][i], last)) : 0;
    }
    const unsigned rest = rest_of_slot();
    fetch_ahead<0>(
        n, [&](std::uint32_t i) { return home(scratch.homes[i], rest); },
        [&](std::uint32_t i) { found[i] = found[i] != 0 && holds(scratch.homes[i], rest) ? 1 : 0; });
  }

  /// Like grow_slots().
  void grow(std::uint64_t extra, const backend::piece_runner& helpers = {}) {
    const std::uint64_t former_slots = slots_.size();
    const unsigned former_rest = rest_of_slot();
    grow_slots(extra, calibration::slots_of_a_thread, helpers,
               [&](auto access, auto& old, std::uint64_t begin, std::uint64_t end) {
                 const auto read = [&](slot value, std::uint64_t at) {
                   const std::uint64_t own_line = at / line - ((value - 1) & most_lines);
                   return (own_line & (former_slots / line - 1)) << former_rest | (value - 1) >> distance_bits;
                 };
                 const unsigned rest = rest_of_slot();
                 sweep(old, begin, end, read,
                       [&](std::uint64_t mixed) { insert_mixed<decltype(access)>(mixed, rest); });
               });
    if (former_slots == slots_.size()) return;
    for (const std::uint64_t mixed : std::exchange(beside_, {})) insert_mixed<exclusive_access>(mixed, rest_of_slot());
  }

  /// Returns the size of the additional set.
  [[nodiscard]] std::size_t numbers_beside() const { return beside_.size(); }

 private:
  /// Bits of a slot that hold the distance of a number from its own line: less than `most_lines`.
  static constexpr unsigned distance_bits = 3;
  static constexpr std::uint32_t most_lines = (1U << distance_bits) - 1;
  static constexpr unsigned rest_bits = 32 - distance_bits;
  static constexpr unsigned least_bits = 32;
  // A table with the number of lines required above this limit exceeds any memory.
  static constexpr unsigned most_bits = 58;

  [[nodiscard]] static unsigned bits_of(const bit_matrix_shape& shape) {
    std::uint64_t combinations = 0;
    if (__builtin_mul_overflow(shape.rows, shape.columns, &combinations)) return 64;
    return std::max(least_bits, static_cast<unsigned>(std::bit_width(combinations - (combinations != 0 ? 1 : 0))));
  }
  [[nodiscard]] std::uint64_t number_of(word first, word second) const { return first * columns_ + second; }

  /// Returns how many bits of a mixed number are stored in its slot: the bits that do not select its line. The number
  /// of lines is a power of two.
  [[nodiscard]] unsigned rest_of_slot() const {
    return bits_ - static_cast<unsigned>(std::countr_zero(slots_.size() / line));
  }
  [[nodiscard]] static std::uint64_t home(std::uint64_t mixed, unsigned rest) { return (mixed >> rest) * line; }
  /// Returns the contents of a slot in the number's own line; one more for each line of distance.
  [[nodiscard]] static slot slot_of(std::uint64_t mixed, unsigned rest) {
    return static_cast<slot>((mixed & ((std::uint64_t{1} << rest) - 1)) << distance_bits) + 1;
  }
  [[nodiscard]] std::uint64_t next(std::uint64_t at) const { return at + line == slots_.size() ? 0 : at + line; }

  [[nodiscard]] bool holds(std::uint64_t mixed, unsigned rest) const {
    const slot value = slot_of(mixed, rest);
    std::uint64_t at = home(mixed, rest);
    for (std::uint32_t distance = 0; distance < most_lines; ++distance, at = next(at)) {
      const line_answer answer = look_into_line(slots_.data() + at, value + distance);
      if (answer != line_answer::is_full) return answer == line_answer::is_there;
    }
    const std::lock_guard<std::mutex> held(beside_mutex_);
    return beside_.contains(mixed);
  }

  /// @return whether the number was inserted
  template <class Access>
  bool insert_mixed(std::uint64_t mixed, unsigned rest) {
    const slot value = slot_of(mixed, rest);
    std::uint64_t at = home(mixed, rest);
    for (std::uint32_t distance = 0; distance < most_lines; ++distance, at = next(at)) {
      const line_answer answer = insert_into_line<Access>(slots_.data() + at, value + distance);
      if (answer != line_answer::is_full) return answer == line_answer::is_new;
    }
    const std::lock_guard<std::mutex> held(beside_mutex_);
    return beside_.insert(mixed).second;
  }

  /// Inserts the mixed numbers in the scratch's homes. Moves the keys of new numbers, in order, to the front of its
  /// keys.
  template <class Access>
  std::uint32_t insert_numbers(std::uint32_t n, insert_scratch& scratch) {
    const unsigned rest = rest_of_slot();
    std::uint32_t fresh = 0;
    fetch_ahead<1>(
        n, [&](std::uint32_t i) { return home(scratch.homes[i], rest); },
        [&](std::uint32_t i) {
          scratch.keys[fresh] = scratch.keys[i];
          fresh += insert_mixed<Access>(scratch.homes[i], rest) ? 1 : 0;
        });
    add_count<Access>(fresh);
    return fresh;
  }

  std::uint64_t rows_;
  std::uint64_t columns_;
  bool is_unary_;
  unsigned bits_;  // bits of a number
  number_permutation permuted_;
  mutable std::mutex beside_mutex_;
  std::set<std::uint64_t> beside_;
};
static_assert(tuple_set<narrow_set>);

}  // namespace gpulog::storage
