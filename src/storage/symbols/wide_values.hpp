#pragma once

#include <cstdint>

#include "storage/records/record_table.hpp"
#include "storage/symbols/value_codes.hpp"
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

  static constexpr word no_code = storage::no_code;

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
    return value_of_code(code, [this](word number) {
      const word* const halves = numbers_.fields(number);
      return wide_word{halves[1]} << 32 | halves[0];
    });
  }
  /// How many values are in the table.
  [[nodiscard]] std::uint64_t size() const { return numbers_.size(); }
  /// The table: value number n is record n, of its lower and its upper half.
  [[nodiscard]] record_table& numbers() { return numbers_; }
  static constexpr word most_numbers = code_number_mask;
  /// Symbols and records have numbers up to here, which are their own codes.
  static constexpr word most_names = no_code - 1;

 private:
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
