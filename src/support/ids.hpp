#pragma once

#include <cstdint>
#include <functional>

namespace gpulog {

/// A number that names a thing of kind Tag; ids of different kinds do not mix.
template <class Tag>
struct strong_id {
  std::uint32_t value = UINT32_MAX;

  constexpr strong_id() = default;
  constexpr explicit strong_id(std::uint32_t number) : value(number) {}
  [[nodiscard]] constexpr bool valid() const { return value != UINT32_MAX; }
  friend constexpr bool operator==(strong_id, strong_id) = default;
  friend constexpr auto operator<=>(strong_id, strong_id) = default;
};

/// A relation of the program, numbered 0..n-1; the same number in sema, plan and exec.
using relation_id = strong_id<struct relation_tag>;
/// A rule after desugaring (one head, no disjunction), numbered 0..n-1 over the program.
using rule_id = strong_id<struct rule_tag>;
/// A sorted order of a relation that the plan requires.
using index_id = strong_id<struct index_tag>;
/// A register of a rule version's pipeline: one word per binding.
using slot_id = strong_id<struct slot_tag>;
/// A text constant of the program; equal to its number in the symbol table, which is seeded with these constants.
using symbol_id = strong_id<struct symbol_tag>;

/// How to interpret a word of a column.
enum class value_kind : std::uint8_t { number, unsigned_number, floating, symbol, record, adt };

/// A word of a column: with 32-bit words the value itself; with 64-bit words the value or a code for it
/// (storage/symbols/wide_values.hpp).
using word = std::uint32_t;
constexpr unsigned word_bits = 32;

/// The number of the record without fields, the only record of its arity.
constexpr word record_without_fields = 1;

/// Bits of a program's numbers, unsigned numbers and floats.
enum class word_size : std::uint8_t { bits32 = 32, bits64 = 64 };

/// A value of the program; with 32-bit words the upper half is 0.
using wide_word = std::uint64_t;

}  // namespace gpulog

template <class Tag>
struct std::hash<gpulog::strong_id<Tag>> {
  std::size_t operator()(gpulog::strong_id<Tag> id) const noexcept { return id.value; }
};
