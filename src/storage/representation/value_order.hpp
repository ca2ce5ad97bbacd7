#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <functional>

#include "storage/symbols/wide_values.hpp"
#include "support/ids.hpp"

namespace gpulog::storage {

/// An order of the values in a column, mapped to the order of unsigned words: smaller is better. A NaN is worse than
/// all numbers.
struct value_order {
  value_kind kind = value_kind::number;  ///< or unsigned_number, floating
  bool larger_is_better = false;
  const wide_values* wide = nullptr;  ///< for 64-bit programs

  [[nodiscard]] wide_word rank(word stored) const {
    if (wide == nullptr) {
      return kind == value_kind::floating ? rank_of_float(std::bit_cast<float>(stored), stored, 31)
                                          : stored ^ static_cast<word>(flip(31));
    }
    const wide_word value = wide->value(stored);
    return kind == value_kind::floating ? rank_of_float(std::bit_cast<double>(value), value, 63) : value ^ flip(63);
  }
  [[nodiscard]] bool better(word value, word than) const { return rank(value) < rank(than); }

 private:
  [[nodiscard]] wide_word flip(unsigned sign) const {
    return (larger_is_better ? ~wide_word{0} : 0) ^ (kind == value_kind::number ? wide_word{1} << sign : 0);
  }
  template <class Float>
  [[nodiscard]] wide_word rank_of_float(Float value, wide_word bits, unsigned sign) const {
    if (std::isnan(value)) return ~wide_word{0};
    const wide_word ascending = (bits >> sign & 1) != 0 ? ~bits : bits | wide_word{1} << sign;
    const wide_word all = (wide_word{2} << sign) - 1;
    return (larger_is_better ? ~ascending : ascending) & all;
  }
};

/// A column whose value is derived from all offered values by bound(a, b), which must not depend on the order and
/// number of its applications.
struct bounded_column {
  std::uint32_t column = 0;
  std::function<word(word, word)> bound;
};

}  // namespace gpulog::storage
