#pragma once

#include <cstdint>
#include <vector>

#include "kernels/join/pipeline.hpp"
#include "storage/relation/relation.hpp"

/// Aggregates over tiles: bindings with equal values in the registers that the body reads are one group, whose value is
/// folded once.
namespace gpulog::kernels {

using storage::tile_rows;

/// What an aggregate gave for a group.
struct fold_result {
  word value = 0;
  bool has_value = false;  ///< false: its bindings end here
};

class fold_state {
 public:
  /// Groups the bindings by the columns. @return how many groups
  std::uint32_t group(const std::vector<const word*>& columns, std::uint32_t n);
  /// The binding that stands for a group.
  [[nodiscard]] const std::uint16_t* representatives() const { return representatives_; }
  [[nodiscard]] std::uint16_t group_of(std::uint32_t binding) const { return groups_[binding]; }

  /// Scratch space for a column of group(): numbers of the classes that values are in.
  [[nodiscard]] word* class_numbers() { return class_numbers_; }
  /// Scratch space for the columns that the body reads, and for those that group() compares.
  [[nodiscard]] std::vector<const word*>& columns() { return columns_; }
  [[nodiscard]] std::vector<const word*>& keys() { return keys_; }
  /// By group: what it gave, as soon as that is known.
  [[nodiscard]] fold_result* results() { return results_; }
  /// Scratch space for numbers of groups.
  [[nodiscard]] std::uint16_t* wanted() { return wanted_; }

  /// Before the first value: no group has one.
  void clear(std::uint32_t groups);
  /// values[i] belongs to group owners[i]. @param is_signed of a sum: its values are numbers, not unsigned numbers
  void add(fold_op op, bool is_signed, const word* owners, const std::uint32_t* values, std::uint32_t n);
  void add(fold_op op, bool is_signed, const word* owners, const std::uint64_t* values, std::uint32_t n);
  /// Where a functor puts what it gives with the group's next value; before the first one that is `initial`.
  [[nodiscard]] wide_word& so_far(std::uint32_t group, wide_word initial) {
    if (counts_[group]++ == 0) values_[group] = initial;
    return values_[group];
  }
  /// `matches` matches at once, of a count.
  void add_matches(std::uint32_t group, std::uint64_t matches) { counts_[group] += matches; }
  /// The same value `times` times, of a sum of numbers.
  void add_repeated(bool is_signed, std::uint32_t group, std::uint32_t value, std::uint64_t times);
  void add_repeated(bool is_signed, std::uint32_t group, std::uint64_t value, std::uint64_t times);
  /// A match for each of n bindings, of a count or a first match.
  void add_matches(const word* owners, std::uint32_t n) {
    for (std::uint32_t i = 0; i < n; ++i) ++counts_[owners[i]];
  }
  [[nodiscard]] bool has_match(std::uint32_t group) const { return counts_[group] != 0; }
  /// Whether the aggregate has a value for the group, and which.
  [[nodiscard]] bool has_value(fold_op op, std::uint32_t group) const;
  [[nodiscard]] wide_word value(fold_op op, std::uint32_t group, word_size words) const;
  /// Whether a count or sum has wrapped around: the group's value needs more bits than words have.
  [[nodiscard]] bool wraps_around(fold_op op, bool is_signed, std::uint32_t group, word_size words) const;

 private:
  static constexpr std::uint32_t table_size = 2 * tile_rows;

  template <class Word>
  void add_values(fold_op op, bool is_signed, const word* owners, const Word* values, std::uint32_t n);
  template <class Word>
  void add_to_sum(bool is_signed, word group, Word value);
  template <class Word>
  void add_product(bool is_signed, std::uint32_t group, Word value, std::uint64_t times);

  std::uint16_t representatives_[tile_rows];
  std::uint16_t groups_[tile_rows];
  std::uint16_t table_[table_size];  // number of a group + 1; 0: empty
  std::uint64_t counts_[tile_rows];
  wide_word values_[tile_rows];
  std::int64_t carries_[tile_rows];  // of sums: how often 2^64 is missing in values_
  word class_numbers_[tile_rows];
  double sums_[tile_rows];
  fold_result results_[tile_rows];
  std::uint16_t wanted_[tile_rows];
  std::vector<const word*> columns_;
  std::vector<const word*> keys_;
};

}  // namespace gpulog::kernels
