#pragma once

#include <cstdint>

#include "storage/records/record_table.hpp"
#include "storage/symbols/value_codes.hpp"
#include "support/ids.hpp"

/// 64-bit values in columns of 32-bit words (docs/adr/0013-word-size.md).
namespace gpulog::storage {

/// Maps each 64-bit value to a code, a word: equal values have equal codes, so that sets, indexes and joins do not
/// depend on values. Frequent values are their own codes, the remaining values have numbers in a table, in order of
/// first occurrence:
///
///     0...            the value is below 2^31; so symbols, records and branches are their own codes
///     10... (30 bits) the value's number in the table; 0: no value
///     110.. (29 bits) the upper bits of a value whose lower 35 are 0: floats with short fractions
///     111.. (29 bits) a negative number from -2^29 on
///
/// All functions are thread-safe.
class wide_values {
 public:
  /// @param memory the source of the table's memory
  explicit wide_values(backend::memory_resource& memory = backend::unlimited_memory())
      : numbers_(2, most_numbers, memory) {}

  static constexpr word no_code = storage::no_code;

  /// @throws std::length_error when the table is full, backend::memory_exceeded
  [[nodiscard]] word code(wide_word value) {
    word short_code;
    return has_short_code(value, short_code) ? short_code : number_code(value);
  }
  /// Computes the codes of many values with prefetches of the table's memory.
  /// @throws like code()
  void codes(const wide_word* values, std::uint32_t n, word* codes);
  /// Returns no_code if the value has no code: then no column contains it.
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
  /// Returns the number of values in the table.
  [[nodiscard]] std::uint64_t size() const { return numbers_.size(); }
  /// Returns the table: record n consists of the lower and the upper half of value number n.
  [[nodiscard]] record_table& numbers() { return numbers_; }
  static constexpr word most_numbers = code_number_mask;
  /// Symbols and records have numbers up to this one, which are their own codes.
  static constexpr word most_names = no_code - 1;

 private:
  [[nodiscard]] word number_code(wide_word value);
  [[nodiscard]] word known_number_code(wide_word value) const;

  record_table numbers_;  ///< lower and upper half
};

/// Returns the value that a word of a column represents.
/// @param wide nullptr for 32-bit programs
[[nodiscard]] inline wide_word value_of(word stored, const wide_values* wide) {
  return wide == nullptr ? stored : wide->value(stored);
}
/// Returns the word for a value.
/// @throws like wide_values::code()
[[nodiscard]] inline word word_of(wide_word value, wide_values* wide) {
  return wide == nullptr ? static_cast<word>(value) : wide->code(value);
}

}  // namespace gpulog::storage
