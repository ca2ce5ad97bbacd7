#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "backend/array.hpp"
#include "storage/symbols/wide_values.hpp"
#include "support/ids.hpp"

namespace gpulog::storage {

/// An order of the values of a column, as that of words without sign: smaller ones are better. What is no number is
/// worse than all numbers.
struct value_order {
  value_kind kind = value_kind::number;  ///< or unsigned_number, floating
  bool larger_is_better = false;
  const wide_values* wide = nullptr;  ///< of words with 64 bits

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

/// A column in which a row holds a value that follows from all that were offered: bound(a, b), of which it makes no
/// difference in which order it takes in values, and how often.
struct bounded_column {
  std::uint32_t column = 0;
  std::function<word(word, word)> bound;
};

/// For a relation of which one row of a key stays, the one that is best in the only other column, as after a
/// subsumption by `<` or `>`, or the one that holds the bounds of all values in the other columns. The row set holds
/// keys then. A better tuple takes the place of a row in the set; the row that was there leaves the relation when the
/// phase ends. Further ones write over what the phase has not shown to anybody yet, each column by itself: bounds of
/// several columns know nothing of each other.
struct best_rows {
  /// @param bounds_of_values not empty: these are the columns of values, and the order says nothing
  best_rows(backend::memory_resource& resource, std::uint32_t arity, std::uint32_t column_of_values,
            const value_order& order_of_values, std::vector<bounded_column> bounds_of_values)
      : column(column_of_values),
        order(order_of_values),
        bounds(std::move(bounds_of_values)),
        replaced(resource),
        erased(resource) {
    for (std::uint32_t c = 0; c < arity; ++c) {
      const bool is_bounded =
          std::any_of(bounds.begin(), bounds.end(), [c](const auto& one) { return one.column == c; });
      if (!is_bounded && (c != column || !bounds.empty())) key.push_back(c);
    }
  }

  std::uint32_t column;  ///< of the values that have an order
  value_order order;
  std::vector<bounded_column> bounds;  ///< empty: the best value of `column` stays
  std::vector<std::uint32_t> key;      ///< the other columns
  /// By row that was appended: 1 + the row whose place it took; 0: none.
  backend::array<std::uint64_t> replaced;
  /// By row: it has left the relation, but not yet its columns.
  backend::array<std::uint8_t> erased;
  /// Not 0: of the rows that wait to be shown, a phase shows the best ones, at least that many.
  std::uint64_t least_shown = 0;
  std::uint64_t shown = 0;  ///< the end of those that the next advance shows
};

}  // namespace gpulog::storage
