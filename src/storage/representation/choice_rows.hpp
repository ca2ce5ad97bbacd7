#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <vector>

#include "storage/calibration.hpp"
#include "storage/indexes/sorted_index.hpp"
#include "storage/representation/row_table.hpp"

namespace gpulog::storage {

/// Rows of a relation with choice-domains: for each domain, a hash table from values of its columns to the only row
/// with these values. A tuple is kept if its values are new in every domain; this also removes duplicates. Insertions
/// collect candidates, until choose() accepts smaller tuples first, compared column by column as numbers: the result
/// does not depend on the order of the insertions.
class choice_rows : public row_representation {
 public:
  using domain = std::vector<std::uint32_t>;  // columns
  static constexpr representation_abilities abilities{};
  choice_rows(column_store& rows, const std::vector<domain>& domains);

  [[nodiscard]] static const char* name() { return "hash"; }
  [[nodiscard]] std::uint64_t bytes() const;
  template <class Backend>
  void make_room(Backend& backend, std::uint64_t room, const backend::piece_runner&) {
    drop_rivals(backend);
    rows_->make_room(room);
  }
  /// @return 0: choose() returns the number
  template <class Access>
  std::uint32_t insert(const word* const* values, std::uint32_t n, insert_scratch& scratch, unsigned) {
    const std::uint32_t kept = select_new(values, n, scratch.homes, scratch.keys);
    const std::uint64_t row = Access::add(rows_->tail, kept);
    for (std::uint32_t c = 0; c < rows_->arity(); ++c) {
      word* const column = rows_->columns[c].data() + row;
      for (std::uint32_t k = 0; k < kept; ++k) column[k] = values[c][scratch.keys[k]];
    }
    return 0;
  }
  void contains(const word* const* values, std::uint32_t n, insert_scratch& scratch, std::uint8_t* found) const {
    tables_.front().contains(values, n, scratch, found,
                             [&](std::uint64_t row, std::uint32_t i) { return rows_->equals(row, values, i); });
  }
  template <class Backend>
  std::uint64_t choose(Backend& backend) {
    sort_candidates(backend);
    return choose_in_order();
  }
  std::uint64_t choose_in_order();
  template <class Backend>
  void settle(Backend& backend) {
    choose(backend);
  }

 private:
  /// Selects the tuples that are new in every domain, in ascending order.
  /// @return their number
  std::uint32_t select_new(const word* const* values, std::uint32_t n, std::uint64_t* hashes,
                           std::uint64_t* selected) const;
  /// Like sort_rows(), ordered by the signed 64-bit numbers that the words represent.
  void sort_values(const domain& by, std::uint64_t begin, std::uint64_t end, array<std::uint32_t>& sorted) const;
  /// Removes all candidates with the same key except the first. With a single domain, this is permitted before the end
  /// of a phase if the candidates are sorted.
  void drop_sorted_rivals();

  /// Sorts the candidates; with a single domain by its columns first, so that rivals are adjacent.
  template <class Backend>
  void sort_candidates(Backend& backend) {
    const std::uint64_t begin = chosen_rows_;
    const std::uint64_t end = rows_->end();
    if (end - begin < 2) return;
    domain by;
    if (tables_.size() == 1) by = tables_.front().key();
    for (std::uint32_t c = 0; c < rows_->arity(); ++c) {
      if (std::find(by.begin(), by.end(), c) == by.end()) by.push_back(c);
    }
    constexpr word sign = 1U << 31;  // sort_rows() compares unsigned
    const auto flip_signs = [&] {
      for (auto& column : rows_->columns) {
        word* const values = column.data() + begin;
        backend.for_each(end - begin, [values](std::uint64_t i) { values[i] ^= sign; });
      }
    };
    array<std::uint32_t> sorted(*rows_->resource);
    const bool is_wide = rows_->options.wide != nullptr;
    if (is_wide) {
      sort_values(by, begin, end, sorted);
    } else {
      flip_signs();
      sort_rows(backend, *rows_->resource, rows_->pointers(), by, begin, end, sorted);
    }
    array<word> moved(*rows_->resource, end - begin);
    for (auto& column : rows_->columns) {
      backend.gather(column.data() + begin, sorted.data(), end - begin, moved.data());
      backend.copy(moved.data(), end - begin, column.data() + begin);
    }
    if (!is_wide) flip_signs();
  }
  template <class Backend>
  void drop_rivals(Backend& backend) {
    if (tables_.size() != 1 || rows_->end() - chosen_rows_ < calibration::least_sorted_rivals) return;
    sort_candidates(backend);
    drop_sorted_rivals();
  }

  std::deque<row_table> tables_;   // by domain
  std::uint64_t chosen_rows_ = 0;  // rows from here on are candidates
};
static_assert(representation<choice_rows>);

}  // namespace gpulog::storage
