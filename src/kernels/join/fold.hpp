#pragma once

#include <cstdint>
#include <vector>

#include "kernels/join/pipeline.hpp"
#include "storage/relation/relation.hpp"

/// Aggregates over tiles: bindings that agree in the registers read by the body form a group, and each group is folded
/// once.
namespace gpulog::kernels {

using storage::tile_rows;

/// Result of an aggregate for a group.
struct fold_result {
  word value = 0;
  bool has_value = false;  ///< false: the group's bindings are dropped
};

class fold_state {
 public:
  /// Groups the bindings by the columns.
  /// @return the number of groups
  std::uint32_t group(const std::vector<const word*>& columns, std::uint32_t n);
  /// Returns the representative binding of each group.
  [[nodiscard]] const std::uint16_t* representatives() const { return representatives_; }
  [[nodiscard]] std::uint16_t group_of(std::uint32_t binding) const { return groups_[binding]; }

  /// Returns scratch space for a column of group(): class numbers of values.
  [[nodiscard]] word* class_numbers() { return class_numbers_; }
  /// Scratch space for the columns that the body reads, and for the columns that group() compares.
  [[nodiscard]] std::vector<const word*>& columns() { return columns_; }
  [[nodiscard]] std::vector<const word*>& keys() { return keys_; }
  /// Returns the results by group, valid once computed.
  [[nodiscard]] fold_result* results() { return results_; }
  /// Returns scratch space for group numbers.
  [[nodiscard]] std::uint16_t* wanted() { return wanted_; }

  /// Starts `groups` groups without values.
  void clear(std::uint32_t groups);
  /// Adds values[i] to group owners[i].
  /// @param is_signed for a sum: whether the values are signed
  void add(fold_op op, bool is_signed, const word* owners, const std::uint32_t* values, std::uint32_t n);
  void add(fold_op op, bool is_signed, const word* owners, const std::uint64_t* values, std::uint32_t n);
  /// Returns where a functor stores the group's accumulated value, which starts as `initial`.
  [[nodiscard]] wide_word& so_far(std::uint32_t group, wide_word initial) {
    if (counts_[group]++ == 0) values_[group] = initial;
    return values_[group];
  }
  /// Adds several matches to a count.
  void add_matches(std::uint32_t group, std::uint64_t matches) { counts_[group] += matches; }
  /// Adds a value several times to a sum of numbers.
  void add_repeated(bool is_signed, std::uint32_t group, std::uint32_t value, std::uint64_t times);
  void add_repeated(bool is_signed, std::uint32_t group, std::uint64_t value, std::uint64_t times);
  /// Adds one match per binding to a count or a first match.
  void add_matches(const word* owners, std::uint32_t n) {
    for (std::uint32_t i = 0; i < n; ++i) ++counts_[owners[i]];
  }
  [[nodiscard]] bool has_match(std::uint32_t group) const { return counts_[group] != 0; }
  /// Returns whether the aggregate has a value for the group.
  [[nodiscard]] bool has_value(fold_op op, std::uint32_t group) const;
  [[nodiscard]] wide_word value(fold_op op, std::uint32_t group, word_size words) const;
  /// Returns whether a count or sum has overflowed the word size.
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
  std::uint16_t table_[table_size];  // group number + 1; 0: empty
  std::uint64_t counts_[tile_rows];
  wide_word values_[tile_rows];
  std::int64_t carries_[tile_rows];  // for sums: multiples of 2^64 missing in values_
  word class_numbers_[tile_rows];
  double sums_[tile_rows];
  fold_result results_[tile_rows];
  std::uint16_t wanted_[tile_rows];
  std::vector<const word*> columns_;
  std::vector<const word*> keys_;
};

}  // namespace gpulog::kernels
