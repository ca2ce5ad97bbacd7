#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <optional>

#include "storage/representation/row_table.hpp"

namespace gpulog::storage {

/// Rows of any width in a row set. Rows can be erased if this is declared before the first row: then an erased tuple
/// counts as new when the tuple is inserted again. The first insertion or lookup builds the set of adopted rows.
class hashed_rows : public row_representation {
 public:
  static constexpr representation_abilities abilities{.inserts_at_once = true};
  /// @param loses_rows whether rows are erased, during which no concurrent use is permitted
  hashed_rows(column_store& rows, bool loses_rows) : row_representation(rows), table_(rows), loses_rows_(loses_rows) {}

  [[nodiscard]] static const char* name() { return "hash"; }
  [[nodiscard]] std::uint64_t bytes() const { return table_.bytes(); }
  [[nodiscard]] bool has_room(std::uint64_t room) const {
    return !is_set_late_.load(std::memory_order_acquire) && table_.has_room(room);
  }
  template <class Backend>
  void make_room(Backend&, std::uint64_t room, const backend::piece_runner& helpers) {
    rows_->make_room(room);
    if (is_set_late_.load(std::memory_order_relaxed)) {
      fill_set(room, helpers);
    } else {
      table_.make_room(room, helpers);
    }
  }
  template <class Access>
  std::uint32_t insert(const word* const* values, std::uint32_t n, insert_scratch& scratch, unsigned worker) {
    row_set& set = table_.set();
    const std::uint32_t fresh =
        table_.insert<Access>(values, n, scratch, worker, [&](std::uint64_t hash, std::uint64_t row, std::uint32_t i) {
          const auto same_as = [&](std::uint64_t other) { return rows_->equals(other, values, i); };
          // Other workers read a row as soon as the set has the row.
          if constexpr (Access::is_concurrent)
            return set.insert<Access>(hash, row, same_as, [&] { rows_->write(row, values, i); });
          if (!set.insert<Access>(hash, row, same_as)) return false;
          rows_->write(row, values, i);
          return true;
        });
    set.add_count<Access>(fresh);
    return fresh;
  }
  // Implements relation::adopt_erasable().
  void adopt(const column_pointers& values, std::uint64_t n, bool lasts);
  void contains(const word* const* values, std::uint32_t n, insert_scratch& scratch, std::uint8_t* found) const {
    // If rows are erased, a tuple found again by the phase counts from the next iteration on.
    const std::uint64_t end = loses_rows_ ? rows_->rows : UINT64_MAX;
    require_set();
    table_.contains(values, n, scratch, found,
                    [&](std::uint64_t row, std::uint32_t i) { return row < end && rows_->equals(row, values, i); });
  }
  template <class Backend>
  void settle(Backend&) {
    table_.close_gaps([](std::uint64_t, std::uint64_t) {});
  }

  /// Returns the number of the row with the tuple, or nothing.
  [[nodiscard]] std::optional<std::uint64_t> find(const word* const* values, std::uint32_t i) const {
    std::optional<std::uint64_t> place;
    require_set();
    const std::uint64_t hash = table_.hash_of([&](std::uint32_t c) { return values[c][i]; });
    static_cast<void>(table_.set().contains(hash, [&](std::uint64_t row) {
      if (!rows_->equals(row, values, i)) return false;
      place = row;
      return true;
    }));
    return place;
  }

  // Implements relation::erase().
  void erase(std::uint64_t row) {
    require_set();
    table_.erase(row);
    ++rows_->erased_rows;
  }
  void erase_appended(const std::uint8_t* marks);
  void compact(const std::uint8_t* marks);

 private:
  void fill_set(std::uint64_t room, const backend::piece_runner& helpers) const;
  /// Builds the set unless it exists. Thread-safe.
  void require_set() const;

  mutable row_table table_;
  mutable std::atomic<bool> is_set_late_ = false;  ///< whether the set lacks all rows
  mutable std::mutex filling_;
  bool loses_rows_;
};
static_assert(representation<hashed_rows>);

}  // namespace gpulog::storage
