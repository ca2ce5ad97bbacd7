#pragma once

#include <algorithm>
#include <cstdint>

#include "storage/sets/bit_set.hpp"
#include "storage/sets/line_table.hpp"
#include "storage/sets/tuple_set.hpp"

namespace gpulog::storage {

/// A slot that is the number of a tuple.
struct numbered_tuple {
  [[nodiscard]] static std::uint64_t key(std::uint32_t slot) { return slot; }
};

/// A set of tuples of one or two columns whose values are known to be below bounds, of which there are fewer than 2^32
/// combinations: a hash table as packed_set, with slots of half the size and lines of sixteen. A slot is the number of
/// the tuple, counted from 1 row by row of the matrix of all combinations; 0 marks a free one.
class narrow_set : public line_table<numbered_tuple, std::uint32_t> {
 public:
  narrow_set(backend::memory_resource& resource, const bit_matrix_shape& shape)
      : line_table(resource), rows_(shape.rows), columns_(shape.columns), is_unary_(shape.is_unary) {}

  static constexpr const char* name = "narrow";

  /// Whether all combinations can be numbered.
  [[nodiscard]] static bool can_hold(const bit_matrix_shape& shape) {
    return shape.rows <= UINT32_MAX / std::max<std::uint64_t>(1, shape.columns);
  }

  /// All tuples are smaller than the bounds.
  template <class Access>
  std::uint32_t insert(const word* const* values, std::uint32_t n, insert_scratch& scratch) {
    const word* const first = values[0];
    if (is_unary_) {
      for (std::uint32_t i = 0; i < n; ++i) scratch.keys[i] = std::uint64_t{first[i]} + 1;
      return insert_numbers<Access>(n, scratch, [first](std::uint32_t i, std::uint64_t) { return first[i]; });
    }
    const word* const second = values[1];
    for (std::uint32_t i = 0; i < n; ++i) scratch.keys[i] = number_of(first[i], second[i]);
    return insert_numbers<Access>(n, scratch,
                                  [=](std::uint32_t i, std::uint64_t) { return pack(first[i], second[i]); });
  }
  template <class Access>
  std::uint32_t insert_words(word first, const bitmap_words& words, std::uint32_t n, insert_scratch& scratch) {
    std::uint32_t count = 0;
    words.for_each(n, [&](word value) { scratch.keys[count++] = number_of(first, value); });
    const std::uint64_t least = number_of(first, 0);
    return insert_numbers<Access>(count, scratch, [=](std::uint32_t, std::uint64_t number) {
      return pack(first, static_cast<word>(number - least));
    });
  }

  void contains(const word* const* values, std::uint32_t n, insert_scratch& scratch, std::uint8_t* found) const {
    for (std::uint32_t i = 0; i < n; ++i) {
      const word last = values[is_unary_ ? 0 : 1][i];
      const bool is_within = last < columns_ && (is_unary_ || values[0][i] < rows_);
      scratch.keys[i] = !is_within ? 0 : is_unary_ ? std::uint64_t{last} + 1 : number_of(values[0][i], last);
      scratch.homes[i] = home(scratch.keys[i]);
    }
    fetch_ahead<0>(scratch.homes, n, [&](std::uint32_t i) {
      const auto number = static_cast<std::uint32_t>(scratch.keys[i]);
      found[i] = number != 0 && holds(scratch.homes[i], number) ? 1 : 0;
    });
  }

 private:
  [[nodiscard]] std::uint64_t number_of(word first, word second) const { return first * columns_ + second + 1; }

  /// Inserts the numbers in the scratch's keys. The tuples of those that were not there are moved, in order, to their
  /// front. @param tuple_of(i, number) the packed tuple
  template <class Access, class TupleOf>
  std::uint32_t insert_numbers(std::uint32_t n, insert_scratch& scratch, const TupleOf& tuple_of) {
    for (std::uint32_t i = 0; i < n; ++i) scratch.homes[i] = home(scratch.keys[i]);
    std::uint32_t fresh = 0;
    fetch_ahead<1>(scratch.homes, n, [&, slots = slots()](std::uint32_t i) {
      const std::uint64_t number = scratch.keys[i];
      const bool inserted = insert_at<Access>(slots, scratch.homes[i], static_cast<std::uint32_t>(number));
      scratch.keys[fresh] = tuple_of(i, number);
      fresh += inserted ? 1 : 0;
    });
    add_count<Access>(fresh);
    return fresh;
  }

  std::uint64_t rows_;
  std::uint64_t columns_;
  bool is_unary_;
};
static_assert(tuple_set<narrow_set>);

}  // namespace gpulog::storage
