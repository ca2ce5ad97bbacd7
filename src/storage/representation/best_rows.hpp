#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "storage/representation/row_table.hpp"
#include "storage/representation/value_order.hpp"

namespace gpulog::storage {

/// Rows with one row per key: either the row with the best value in the only further column, as after a subsumption by
/// "<" or ">", or a row with the bounds of all values in the further columns. The row set then contains keys. A better
/// tuple replaces a row in the set; the replaced row leaves the relation at the end of the phase. Further better tuples
/// overwrite rows that the phase has not shown yet, column by column: bounds of different columns are independent.
class best_rows : public row_representation {
 public:
  static constexpr representation_abilities abilities{};
  best_rows(column_store& rows, std::uint32_t column, const value_order& order);
  best_rows(column_store& rows, std::vector<bounded_column> bounds);

  /// Implements relation::use_priority_delta().
  void use_priority_delta(std::uint64_t least) { least_shown_ = least; }

  [[nodiscard]] static const char* name() { return "hash"; }
  [[nodiscard]] std::uint64_t bytes() const { return table_.bytes() + replaced_.bytes() + erased_.bytes(); }
  [[nodiscard]] bool has_room(std::uint64_t room) const { return table_.has_room(room); }
  template <class Backend>
  void make_room(Backend&, std::uint64_t room, const backend::piece_runner& helpers) {
    if (!rows_->has_room(room)) {
      const std::uint64_t capacity = rows_->next_capacity(rows_->end() + room);
      replaced_.set_capacity(capacity);
      rows_->reserve(capacity);
    }
    table_.make_room(room, helpers);
  }
  template <class Access>
  std::uint32_t insert(const word* const* values, std::uint32_t n, insert_scratch& scratch, unsigned worker) {
    if (bounds_.empty()) {
      const auto better = [this](word known, word offered) { return order_.better(offered, known) ? offered : known; };
      const std::array best{keep(column_, better, values)};
      return insert<Access>(values, n, scratch, worker, best);
    }
    std::vector<kept_column<std::reference_wrapper<const std::function<word(word, word)>>>> kept;
    for (const bounded_column& one : bounds_) kept.push_back(keep(one.column, std::cref(one.bound), values));
    return insert<Access>(values, n, scratch, worker, std::move(kept));
  }
  void contains(const word* const* values, std::uint32_t n, insert_scratch& scratch, std::uint8_t* found) const {
    table_.contains(values, n, scratch, found, [&](std::uint64_t row, std::uint32_t i) {
      // A row replaced by the running phase counts until the next phase.
      if (row >= rows_->rows) row = replaced_[row] - 1;
      return row < rows_->rows && rows_->equals(row, values, i);
    });
  }
  template <class Backend>
  void settle(Backend&) {
    table_.close_gaps([this](std::uint64_t from, std::uint64_t to) { replaced_[to] = replaced_[from]; });
    choose_shown();
    erase_replaced();
  }
  void advance() { rows_->show(rows_->rows, shown_until()); }
  void restart() {
    rows_->show(0, 0);
    if (least_shown_ != 0) choose_shown();
    rows_->show(0, shown_until());
  }

  /// Implements relation::compact().
  void compact();

 private:
  /// A column outside the key, which holds bound(known, offered).
  template <class Bound>
  struct kept_column {
    Bound bound;
    const word* offered;
    word* column;
    word value = 0;  // offered now
    word kept = 0;
  };
  template <class Bound>
  [[nodiscard]] kept_column<Bound> keep(std::uint32_t column, const Bound& bound, const word* const* values) {
    return {bound, values[column], rows_->columns[column].data()};
  }
  /// The values that remain when a tuple is merged into the row with its key.
  template <class Columns>
  struct kept_values {
    Columns columns;

    void start(std::uint32_t i) {
      for (auto& own : columns) own.kept = own.value = own.offered[i];
    }
    /// Compares the merged values with a row that may have readers.
    /// @return whether a row with the merged values must replace the row
    bool differs_from(std::uint64_t row) {
      bool differs = false;
      for (auto& own : columns) {
        own.kept = own.bound(own.column[row], own.value);
        differs |= own.kept != own.column[row];
      }
      return differs;
    }
    /// Merges the values into a row of the running phase. Other workers may write the row concurrently: each column
    /// combines all offered values in any order.
    void write_over(std::uint64_t row) {
      for (auto& own : columns) {
        word known = __atomic_load_n(own.column + row, __ATOMIC_RELAXED);
        word kept = own.bound(known, own.value);
        while (kept != known &&
               !__atomic_compare_exchange_n(own.column + row, &known, kept, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
          kept = own.bound(known, own.value);
      }
    }
    void write(std::uint64_t row) const {
      for (const auto& own : columns) own.column[row] = own.kept;
    }
  };

  template <class Access, class Columns>
  std::uint32_t insert(const word* const* values, std::uint32_t n, insert_scratch& scratch, unsigned worker,
                       Columns columns) {
    kept_values<Columns> kept{std::move(columns)};
    row_set& set = table_.set();
    std::uint32_t added = 0;
    const auto offer = [&](std::uint64_t hash, std::uint64_t row, std::uint32_t i) {
      const auto same_key = [&](std::uint64_t other) {
        return table_.has_key(other, [&](std::uint32_t c) { return values[c][i]; });
      };
      kept.start(i);
      const auto consider = [&](std::uint64_t other) {
        if (other < rows_->rows) return kept.differs_from(other);
        kept.write_over(other);
        return false;
      };
      const auto show = [&](std::uint64_t other) {
        for (const std::uint32_t c : table_.key()) rows_->columns[c][row] = values[c][i];
        kept.write(row);
        replaced_[row] = other == row_set::no_row ? 0 : other + 1;
      };
      const row_set::placed outcome = set.insert_or_replace<Access>(hash, row, same_key, consider, show);
      added += outcome == row_set::placed::added ? 1 : 0;
      return outcome != row_set::placed::no;
    };
    const std::uint32_t fresh = table_.insert<Access>(values, n, scratch, worker, offer);
    set.add_count<Access>(added);
    return fresh;
  }

  [[nodiscard]] std::uint64_t shown_until() const { return least_shown_ != 0 ? shown_ : rows_->end(); }
  void choose_shown();
  void swap(std::uint64_t one, std::uint64_t other);
  void erase_replaced();

  std::uint32_t column_ = 0;  // the column with ordered values
  value_order order_;
  std::vector<bounded_column> bounds_;  // empty: the best value of column_ is kept
  row_table table_;
  array<std::uint64_t> replaced_;  // by appended row: 1 + the row it replaced; 0: none
  array<std::uint8_t> erased_;     // by row: left the relation, but not yet its columns
  /// Not 0: each phase shows only the best of the waiting rows, at least this many.
  std::uint64_t least_shown_ = 0;
  std::uint64_t shown_ = 0;  // end of the rows that the next advance shows
};
static_assert(representation<best_rows>);

}  // namespace gpulog::storage
