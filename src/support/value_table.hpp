#pragma once

#include <cstddef>
#include <initializer_list>
#include <optional>
#include <utility>

/// Tables from enumeration values to constants, shorter to read than a switch.
namespace gpulog {

template <class Value>
[[nodiscard]] constexpr bool is_one_of(Value looked_for, std::initializer_list<Value> values) {
  for (const Value one : values) {
    if (one == looked_for) return true;
  }
  return false;
}

template <class Key, class Value>
using entry = std::pair<Key, Value>;

template <class Key, class Value, std::size_t Size>
[[nodiscard]] constexpr std::optional<Value> find_in(const entry<Key, Value> (&table)[Size], Key key) {
  for (const auto& [own, paired] : table) {
    if (own == key) return paired;
  }
  return std::nullopt;
}

/// Returns whether every value of the enumeration, from 0 to `last`, has an entry. For a static_assert next to the
/// table.
template <class Key, class Value, std::size_t Size>
[[nodiscard]] constexpr bool has_all(const entry<Key, Value> (&table)[Size], Key last) {
  for (std::size_t number = 0; number <= static_cast<std::size_t>(last); ++number) {
    if (!find_in(table, static_cast<Key>(number))) return false;
  }
  return true;
}

}  // namespace gpulog
