#pragma once

#include <cstdint>

#include "storage/records/record_table.hpp"
#include "support/ids.hpp"

/// Values of 64 bits in columns of 32-bit words (docs/adr/0013-word-size.md).
namespace gpulog::storage {

/// A value of 64 bits has a code, a word: equal values have equal codes, so that sets, indexes and joins need not know
/// of values. Those that are frequent are their own codes, the others get numbers in a table, in the order in which
/// they were first seen:
///
///     0...            the value is below 2^31; so symbols, records and branches are their own codes
///     10... (30 bits) the value's number in the table; 0: of no value
///     110.. (29 bits) the upper bits of a value whose lower 35 are 0: floats with short fractions
///     111.. (29 bits) a negative number from -2^29 on
///
/// Threads may do everything at the same time.
class wide_values {
 public:
  /// @param memory where the table's memory comes from
  explicit wide_values(backend::memory_resource& memory = backend::unlimited_memory())
      : numbers_(2, most_numbers, memory) {}

  /// The code of no value.
  static constexpr word no_code = 0x80000000;

  /// @throws std::length_error when the table is full, backend::memory_exceeded
  [[nodiscard]] word code(wide_word value) {
    word short_code;
    return has_short_code(value, short_code) ? short_code : number_code(value);
  }
  /// The codes of many values: the table's memory is fetched ahead. @throws as code()
  void codes(const wide_word* values, std::uint32_t n, word* codes);
  /// no_code when the value has none: then no column holds it.
  [[nodiscard]] word known_code(wide_word value) const {
    word short_code;
    return has_short_code(value, short_code) ? short_code : known_number_code(value);
  }
  [[nodiscard]] wide_word value(word code) const {
    if (code < no_code) return code;
    switch (code >> 29) {
      case prefix_of_negative:
        return wide_word{code} | 0xffffffff00000000;
      case prefix_of_upper:
        return wide_word{code} << upper_shift;
      default: {
        const word* const halves = numbers_.fields(code & number_mask);
        return wide_word{halves[1]} << 32 | halves[0];
      }
    }
  }
  /// How many values are in the table.
  [[nodiscard]] std::uint64_t size() const { return numbers_.size(); }
  static constexpr word most_numbers = (1U << 30) - 1;
  /// Symbols and records have numbers up to here, which are their own codes.
  static constexpr word most_names = no_code - 1;

 private:
  static constexpr word prefix_of_upper = 6;     // 110
  static constexpr word prefix_of_negative = 7;  // 111
  static constexpr unsigned upper_shift = 35;
  static constexpr word number_mask = 0x3fffffff;

  [[nodiscard]] static bool has_short_code(wide_word value, word& code) {
    constexpr wide_word first_negative = ~wide_word{0} << 29;
    code = static_cast<word>(value);
    if (value < no_code || value >= first_negative) return true;
    code = prefix_of_upper << 29 | static_cast<word>(value >> upper_shift);
    return value << (64 - upper_shift) == 0;
  }
  [[nodiscard]] word number_code(wide_word value);
  [[nodiscard]] word known_number_code(wide_word value) const;

  record_table numbers_;  ///< lower and upper half
};

/// The value that a word of a column stands for. @param wide nullptr: words have 32 bits
[[nodiscard]] inline wide_word value_of(word stored, const wide_values* wide) {
  return wide == nullptr ? stored : wide->value(stored);
}
/// The word for a value. @throws as wide_values::code
[[nodiscard]] inline word word_of(wide_word value, wide_values* wide) {
  return wide == nullptr ? static_cast<word>(value) : wide->code(value);
}

}  // namespace gpulog::storage
