#pragma once

#include <bit>
#include <cstdint>
#include <vector>

#include "backend/array.hpp"
#include "storage/sets/hash.hpp"
#include "support/ids.hpp"

namespace gpulog::storage {

/// The places of distinct tuples: a hash table, at most half full.
class tuple_places {
 public:
  static constexpr std::uint32_t none = UINT32_MAX;

  tuple_places() = default;
  /// @param columns columns of n tuples each; must outlive the table
  /// @throws backend::memory_exceeded
  tuple_places(backend::memory_resource& resource, const std::vector<backend::array<word>>& columns, std::uint64_t n)
      : columns_(&columns), slots_(resource, std::bit_ceil(2 * n + 1)) {
    for (std::uint32_t place = 0; place < n; ++place) {
      std::uint64_t slot = home([&](std::size_t c) { return columns[c][place]; });
      while (slots_[slot] != 0) slot = next(slot);
      slots_[slot] = place + 1;
    }
  }

  [[nodiscard]] std::uint64_t bytes() const { return slots_.bytes(); }

  /// Returns the place of the tuple, or `none`.
  /// @param value value(c) returns column c
  template <class Value>
  [[nodiscard]] std::uint32_t find(const Value& value) const {
    for (std::uint64_t slot = home(value); slots_[slot] != 0; slot = next(slot)) {
      const std::uint32_t place = slots_[slot] - 1;
      bool is_equal = true;
      for (std::size_t c = 0; c < columns_->size(); ++c) is_equal = is_equal && (*columns_)[c][place] == value(c);
      if (is_equal) return place;
    }
    return none;
  }

 private:
  template <class Value>
  [[nodiscard]] std::uint64_t home(const Value& value) const {
    key_hash hash;
    for (std::size_t c = 0; c < columns_->size(); ++c) hash.add(value(c));
    return mix(hash.value()) & (slots_.size() - 1);
  }
  [[nodiscard]] std::uint64_t next(std::uint64_t slot) const { return (slot + 1) & (slots_.size() - 1); }

  const std::vector<backend::array<word>>* columns_ = nullptr;
  backend::array<std::uint32_t> slots_;  // place + 1; 0: empty
};

}  // namespace gpulog::storage
