#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "kernels/calibration.hpp"
#include "kernels/row_wise/row_rule_reader.hpp"
#include "kernels/row_wise/row_wise_task.hpp"
#include "kernels/row_wise/row_words.hpp"
#include "kernels/steps/steps.hpp"
#include "storage/factorized/word_lists.hpp"
#include "storage/symbols/wide_values.hpp"

namespace gpulog::kernels {

/// The values of one row.
class row_values {
 public:
  /// @param numbers which the bitmap has instead of values; nullptr: it has values
  row_values(backend::memory_resource& resource, std::uint64_t values, const tuple_numbering* numbers)
      : numbers_(numbers),
        values_(numbers == nullptr ? nullptr : numbers->columns().front()),
        bits_(resource, (values >> word_rows::bits) + 1),
        touched_(resource),
        marks_(resource, bits_.size() / mark_size + 1) {}

  void add(const row_rule_reader& rule, word row) {
    const std::uint32_t* const numbers = rule.words().numbers();
    const std::uint64_t* const masks = rule.words().masks();
    rule.for_each_range(row, [&](const storage::row_range& range) {
      if (filled_ + range.count >= touched_.capacity())
        touched_.set_capacity(std::max<std::uint64_t>(filled_ + range.count + 1, touched_.capacity() * 2));
      std::uint32_t* const touched = touched_.data();
      std::uint64_t* const bits = bits_.data();
      std::uint64_t filled = filled_;
      for (std::uint64_t w = range.first; w < range.first + std::uint64_t{range.count}; ++w) {
        // A store that the next store overwrites costs less than a branch.
        std::uint64_t& seen = bits[numbers[w]];
        touched[filled] = numbers[w];
        filled += seen == 0 ? 1 : 0;
        seen |= masks[w];
      }
      filled_ = filled;
    });
  }
  /// Drops the values that fail a filter. @param wide nullptr: words have 32 bits
  void filter(const std::vector<row_filter>& filters, word row, const storage::wide_values* wide) {
    for (const row_filter& one : filters) {
      if (auto excluded = excluded_value(one, row)) {
        if (numbers_ != nullptr) numbers_->find({&*excluded}, 1, 0, &*excluded);
        if (const std::uint64_t number = *excluded >> word_rows::bits; number < bits_.size())
          bits_[number] &= ~(1ULL << (*excluded & ((1U << word_rows::bits) - 1)));
      } else {
        filter_each(one, row, wide);
      }
    }
    std::uint64_t kept = 0;
    for (std::uint64_t t = 0; t < filled_; ++t) {
      if (bits_[touched_[t]] != 0) touched_[kept++] = touched_[t];
    }
    filled_ = kept;
  }
  [[nodiscard]] std::uint64_t count() const {
    std::uint64_t sum = 0;
    for (std::uint64_t t = 0; t < filled_; ++t) sum += static_cast<unsigned>(std::popcount(bits_[touched_[t]]));
    return sum;
  }
  void write(word* to) const {
    for (std::uint64_t t = 0; t < filled_; ++t) {
      for (std::uint64_t left = bits_[touched_[t]]; left != 0; left &= left - 1) *to++ = value_of(touched_[t], left);
    }
  }
  [[nodiscard]] std::uint64_t words() const { return filled_; }
  /// Writes the values as an ascending list of words.
  /// @return the number of values
  std::uint64_t write_words(std::uint64_t row, storage::word_lists& lists, storage::word_lists::reserve& own) {
    std::uint32_t* const touched = touched_.data();
    if (!std::is_sorted(touched, touched + filled_)) sort_words();
    const storage::word_lists::new_words to = lists.add(row, static_cast<std::uint32_t>(filled_), own);
    std::uint64_t sum = 0;
    for (std::uint64_t t = 0; t < filled_; ++t) {
      const std::uint64_t bits = bits_[touched[t]];
      to.numbers[t] = touched[t];
      to.bits[t] = bits;
      sum += static_cast<unsigned>(std::popcount(bits));
    }
    return sum;
  }
  /// Calls use(words, n, values) for pieces with at most `most` values, where `most` is at least 64.
  template <class Use>
  void in_pieces(std::uint32_t most, const Use& use) const {
    std::uint64_t begin = 0;
    std::uint32_t values = 0;
    for (std::uint64_t t = 0; t < filled_; ++t) {
      const auto own = static_cast<std::uint32_t>(std::popcount(bits_[touched_[t]]));
      if (values + own > most) {
        use(words_from(begin), static_cast<std::uint32_t>(t - begin), values);
        begin = t;
        values = 0;
      }
      values += own;
    }
    if (values != 0) use(words_from(begin), static_cast<std::uint32_t>(filled_ - begin), values);
  }
  void clear() {
    for (std::uint64_t t = 0; t < filled_; ++t) bits_[touched_[t]] = 0;
    filled_ = 0;
  }

 private:
  [[nodiscard]] storage::bitmap_words words_from(std::uint64_t place) const {
    return {touched_.data() + place, bits_.data()};
  }
  [[nodiscard]] word value_of(std::uint32_t number, std::uint64_t left) const {
    const word place = number << word_rows::bits | static_cast<word>(std::countr_zero(left));
    return values_ == nullptr ? place : values_[place];
  }
  /// Returns the single value that fails the filter, if exactly one value fails.
  static std::optional<word> excluded_value(const row_filter& one, word row) {
    using side = row_filter::side;
    if (one.op != comparison_op::not_equal || (one.left == side::target) == (one.right == side::target))
      return std::nullopt;
    const bool is_left = one.right == side::target;
    if ((is_left ? one.left : one.right) == side::source) return row;
    return static_cast<word>(is_left ? one.left_constant : one.right_constant);
  }
  void filter_each(const row_filter& one, word row, const storage::wide_values* wide) {
    for (std::uint64_t t = 0; t < filled_; ++t) {
      std::uint64_t& bits = bits_[touched_[t]];
      for (std::uint64_t left = bits; left != 0; left &= left - 1) {
        if (!passes(one, row, value_of(touched_[t], left), wide)) bits &= ~(left & (~left + 1));
      }
    }
  }
  /// Sorts the touched words: with a bitmap if they are close together, as the words of adjacent values usually are.
  void sort_words() {
    std::uint32_t* const touched = touched_.data();
    const auto [least, largest] = std::minmax_element(touched, touched + filled_);
    const std::uint64_t first = *least / mark_size;
    const std::uint64_t last = *largest / mark_size;
    if (last - first > calibration::marks_of_sorted_word * filled_) return std::sort(touched, touched + filled_);
    for (std::uint64_t t = 0; t < filled_; ++t) marks_[touched[t] / mark_size] |= 1ULL << touched[t] % mark_size;
    std::uint32_t* next = touched;
    for (std::uint64_t m = first; m <= last; ++m) {
      for (std::uint64_t left = std::exchange(marks_[m], 0); left != 0; left &= left - 1)
        *next++ = static_cast<std::uint32_t>(m * mark_size) + static_cast<std::uint32_t>(std::countr_zero(left));
    }
  }
  static bool passes(const row_filter& one, word row, word value, const storage::wide_values* wide) {
    const auto operand = [&](row_filter::side side, wide_word constant) {
      if (side == row_filter::side::constant) return static_cast<word>(constant);
      return side == row_filter::side::source ? row : value;
    };
    const word left = operand(one.left, one.left_constant);
    const word right = operand(one.right, one.right_constant);
    std::uint16_t selected = 0;
    if (wide == nullptr) return select_tile(one.op, &left, &right, 1, nullptr, &selected) != 0;
    const wide_word left_value = wide->value(left);
    const wide_word right_value = wide->value(right);
    return select_tile(one.op, &left_value, &right_value, 1, &selected) != 0;
  }

  static constexpr std::uint64_t mark_size = 64;

  const tuple_numbering* numbers_;
  const word* values_;  // by number; nullptr: they are numbers
  storage::array<std::uint64_t> bits_;
  storage::array<std::uint32_t> touched_;
  storage::array<std::uint64_t> marks_;  // one bit per word; zero between calls
  std::uint64_t filled_ = 0;
};

}  // namespace gpulog::kernels
