#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "storage/factorized/group_table.hpp"
#include "storage/factorized/row_groups.hpp"
#include "storage/factorized/row_matrix.hpp"
#include "storage/factorized/tuple_places.hpp"
#include "storage/factorized/word_lists.hpp"

namespace gpulog::storage {

/// A row of bits for each number: the set of related numbers. Nonzero words are stored in lists or in groups.
struct row_words {
  static constexpr std::uint64_t word_size = row_groups::word_size;

  std::uint32_t numbers = 0;
  std::optional<word_lists> lists;  ///< replaces groups; each word of a list is a separate group
  row_groups bits;
  group_table table;                         ///< place of the bits in the lower half of an entry; 0: no bits
  row_groups blocks;                         ///< of the table
  backend::array<std::uint64_t> first_row;   ///< by number, with one extra entry: bits in earlier rows
  std::vector<backend::array<word>> values;  ///< one column, by number; empty: numbers are the values

  [[nodiscard]] std::uint64_t words_of_group() const { return lists ? 1 : row_groups::words; }
  /// Returns a group of a row; nullptr: the group has no bits.
  [[nodiscard]] const std::uint64_t* group(std::uint32_t number, std::uint64_t group) const {
    if (lists) return lists->word_of(number, group);
    const auto place = static_cast<std::uint32_t>(table.find(blocks, number, group));
    return place == 0 ? nullptr : bits.at(place);
  }
  /// Calls action(first word, words) for each nonempty group of a row, in ascending order, until it returns false.
  template <class Action>
  void for_each_group(std::uint32_t number, const Action& action) const {
    if (lists) {
      const word_lists::known_words own = lists->of(number);
      for (std::uint32_t i = 0; i < own.count && action(std::uint64_t{own.numbers[i]}, own.bits + i); ++i) {
      }
      return;
    }
    table.for_each_block(blocks, number, [&](std::uint64_t first_group, const std::uint64_t* entries) {
      for (std::uint64_t i = 0; i < group_table::block_size; ++i) {
        const auto place = static_cast<std::uint32_t>(entries[i]);
        if (place != 0 && !action((first_group + i) * row_groups::words, bits.at(place))) return false;
      }
      return true;
    });
  }
  [[nodiscard]] std::uint64_t rows() const { return first_row[numbers]; }
  [[nodiscard]] std::uint64_t size(std::uint32_t number) const { return first_row[number + 1ULL] - first_row[number]; }
  [[nodiscard]] bool has(std::uint32_t number, std::uint32_t value) const {
    const std::uint64_t w = value / word_size;
    const std::uint64_t* const words = group(number, w / words_of_group());
    return words != nullptr && (words[w % words_of_group()] >> value % word_size & 1) != 0;
  }
  [[nodiscard]] std::uint64_t bytes() const;
};

/// Rows of a binary relation represented by bits: the first column is the source. Lookups read the bits directly.
class word_rows final : public host_row_matrix {
 public:
  /// @throws backend::memory_exceeded
  word_rows(backend::memory_resource& resource, row_words words);

  [[nodiscard]] const row_words& words() const { return words_; }
  [[nodiscard]] backend::memory_resource& resource() const { return *resource_; }

  [[nodiscard]] column_values values_of(std::uint32_t /*column*/) const override {
    return {words_.values.front().data(), words_.numbers};
  }
  [[nodiscard]] std::uint64_t rows() const override { return words_.rows(); }
  [[nodiscard]] std::uint64_t bytes() const override;
  [[nodiscard]] std::optional<std::vector<std::uint32_t>> places_with_rows(bool of_sources) override;
  /// A piece contains whole sources.
  [[nodiscard]] std::span<const std::uint64_t> pieces() override { return rows_in_front_; }
  [[nodiscard]] std::unique_ptr<row_piece> make_piece() override;
  [[nodiscard]] std::unique_ptr<matrix_reader> make_reader() override;

  /// Returns the number of a value, or `none` if no such number exists.
  [[nodiscard]] std::uint32_t number_of(word value) {
    if (is_plain_) return value < words_.numbers ? value : tuple_places::none;
    std::call_once(numbers_made_, [this] { place_numbers(); });
    return places_.find([value](std::size_t) { return value; });
  }
  /// Returns the number of sources for each number; takes as long as counting all rows once.
  [[nodiscard]] const std::uint32_t* source_counts() {
    std::call_once(counts_made_, [this] { count_sources(); });
    return source_counts_.data();
  }

 private:
  void place_numbers();
  void count_sources();

  backend::memory_resource* resource_;
  row_words words_;
  bool is_plain_;  // whether numbers are the values
  std::vector<std::uint64_t> rows_in_front_;
  std::once_flag numbers_made_;
  std::once_flag counts_made_;
  tuple_places places_;
  backend::array<std::uint32_t> source_counts_;  // by number
};

}  // namespace gpulog::storage
