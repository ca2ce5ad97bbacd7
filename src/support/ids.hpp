#pragma once

#include <cstdint>
#include <functional>

namespace gpulog {

/// A number that names one thing of kind Tag; ids of different kinds don't mix.
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
/// A sorted order of one relation that the plan wants kept.
using index_id = strong_id<struct index_tag>;
/// A register of a rule version's pipeline: one word for each binding.
using slot_id = strong_id<struct slot_tag>;
/// A text constant of the program; equal to its number in the symbol table, which is seeded with these.
using symbol_id = strong_id<struct symbol_tag>;

/// How a word of a column is to be read.
enum class value_kind : std::uint8_t { number, unsigned_number, floating, symbol, record, adt };

/// One attribute value. The word size of a build of the data chain; 32 bits for now.
using word = std::uint32_t;

}  // namespace gpulog

template <class Tag>
struct std::hash<gpulog::strong_id<Tag>> {
  std::size_t operator()(gpulog::strong_id<Tag> id) const noexcept { return id.value; }
};
