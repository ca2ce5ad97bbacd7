#pragma once

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <utility>
#include <vector>

#include "storage/representation/representation.hpp"
#include "storage/sets/row_set.hpp"

namespace gpulog::storage {

/// Number of rows that a worker reserves at the tail at a time, for tuples wider than a slot.
constexpr std::uint64_t reservation_rows = 64;

/// A row set over the columns, with rows that differ in key columns, and the concurrent appends to both.
class row_table {
 public:
  /// All columns are the key.
  explicit row_table(column_store& rows) : row_table(rows, std::vector<std::uint32_t>(rows.arity())) {
    std::iota(key_.begin(), key_.end(), 0U);
  }
  row_table(column_store& rows, std::vector<std::uint32_t> key)
      : rows_(&rows), key_(std::move(key)), set_(*rows.resource), reserved_(rows.options.workers) {}

  [[nodiscard]] const std::vector<std::uint32_t>& key() const { return key_; }
  [[nodiscard]] row_set& set() { return set_; }
  [[nodiscard]] const row_set& set() const { return set_; }
  [[nodiscard]] std::uint64_t bytes() const { return set_.bytes(); }
  [[nodiscard]] bool has_room(std::uint64_t room) const {
    return rows_->has_room(room) && set_.has_room(room, rows_->capacity());
  }
  /// Makes room in the set; the columns must already have it.
  void make_room(std::uint64_t room, const backend::piece_runner& helpers = {}) {
    if (set_.has_room(room, rows_->capacity())) return;
    const auto fetch = [this](std::uint64_t row) {
      for (const auto& column : rows_->columns) __builtin_prefetch(column.data() + row);
    };
    set_.grow(
        room, rows_->capacity(), rows_->end(), [this](std::uint64_t row) { return hash(row); }, fetch, helpers);
  }

  /// Inserts all rows into the empty set, which must have room. The rows must have distinct keys.
  void fill(const backend::piece_runner& helpers) {
    const auto hash_rows = [this, columns = rows_->pointers()](std::uint64_t begin, std::uint32_t n,
                                                               std::uint64_t* hashes) {
      hash_tuples(columns.data(), n, hashes, begin);
    };
    set_.fill(rows_->end(), hash_rows, helpers);
  }

  /// Calls offer(hash, row, i), which may place tuple i of a tile at `row`.
  /// @return the number of tuples placed
  template <class Access, class Offer>
  std::uint32_t insert(const word* const* values, std::uint32_t n, insert_scratch& scratch, unsigned worker,
                       const Offer& offer) {
    hash_tuples(values, n, scratch.homes);
    for (std::uint32_t i = 0; i < std::min(n, prefetch_distance); ++i) set_.prefetch(scratch.homes[i]);
    std::uint32_t fresh = 0;
    [[maybe_unused]] reservation reserved = Access::is_concurrent ? reserved_[worker] : reservation();
    for (std::uint32_t i = 0; i < n; ++i) {
      if (i + prefetch_distance < n) set_.prefetch(scratch.homes[i + prefetch_distance]);
      if constexpr (Access::is_concurrent) {
        if (reserved.next == reserved.end) {
          reserved.next = Access::add(rows_->tail, reservation_rows);
          reserved.end = reserved.next + reservation_rows;
        }
        if (!offer(scratch.homes[i], reserved.next, i)) continue;
        ++reserved.next;
      } else {
        const std::uint64_t row = rows_->end();
        if (!offer(scratch.homes[i], row, i)) continue;
        rows_->set_end(row + 1);
      }
      ++fresh;
    }
    if constexpr (Access::is_concurrent) reserved_[worker] = reserved;
    return fresh;
  }

  /// Sets found[i] to is_tuple(row, i) for the row with the key of tuple i.
  template <class IsTuple>
  void contains(const word* const* values, std::uint32_t n, insert_scratch& scratch, std::uint8_t* found,
                const IsTuple& is_tuple) const {
    hash_tuples(values, n, scratch.homes);
    for (std::uint32_t i = 0; i < n; ++i)
      found[i] = set_.contains(scratch.homes[i], [&](std::uint64_t row) { return is_tuple(row, i); }) ? 1 : 0;
  }

  template <class Value>
  [[nodiscard]] std::uint64_t hash_of(const Value& value) const {
    key_hash hash;
    std::size_t k = 0;
    for (; k + 1 < key_.size(); k += 2) hash.add(value(key_[k]), value(key_[k + 1]));
    if (k < key_.size()) hash.add(value(key_[k]));
    return hash.value();
  }
  [[nodiscard]] std::uint64_t hash(std::uint64_t row) const {
    return hash_of([this, row](std::uint32_t c) { return rows_->columns[c][row]; });
  }
  template <class Value>
  [[nodiscard]] bool has_key(std::uint64_t row, const Value& value) const {
    return std::all_of(key_.begin(), key_.end(), [&](std::uint32_t c) { return rows_->columns[c][row] == value(c); });
  }
  void erase(std::uint64_t row) {
    set_.erase(hash(row), row, [this](std::uint64_t other) { return hash(other); });
  }
  void move(std::uint64_t from, std::uint64_t to) {
    if (from == to) return;
    set_.move_row(hash(from), from, to);
    rows_->copy(from, to);
  }

  /// Fills unused reserved rows with rows from the end. Calls moved(from, to) for each moved row.
  template <class Moved>
  void close_gaps(const Moved& moved) {
    std::uint64_t missing = 0;
    for (const reservation& own : reserved_) missing += own.end - own.next;
    if (missing == 0) return;
    std::vector<reservation> gaps;
    for (reservation& own : reserved_) {
      if (own.next != own.end) gaps.push_back(own);
      own = {};
    }
    std::sort(gaps.begin(), gaps.end(), [](const reservation& a, const reservation& b) { return a.next < b.next; });
    std::uint64_t last = rows_->end();
    const std::uint64_t live = last - missing;
    std::size_t last_gap = gaps.size();
    for (const reservation& gap : gaps) {
      for (std::uint64_t hole = gap.next; hole < std::min(gap.end, live); ++hole) {
        while (last_gap > 0 && last == gaps[last_gap - 1].end) last = gaps[--last_gap].next;
        --last;  // the last used row
        move(last, hole);
        moved(last, hole);
      }
    }
    rows_->set_end(live);
  }

 private:
  struct reservation {
    std::uint64_t next = 0;
    std::uint64_t end = 0;
  };

  /// @param begin number of the first tuple in the arrays of values
  void hash_tuples(const word* const* values, std::uint32_t n, std::uint64_t* hashes, std::uint64_t begin = 0) const {
    std::fill_n(hashes, n, key_hash().value());
    std::size_t k = 0;
    for (; k + 1 < key_.size(); k += 2) {
      const word* const first = values[key_[k]] + begin;
      const word* const second = values[key_[k + 1]] + begin;
      for (std::uint32_t i = 0; i < n; ++i) {
        key_hash hash(hashes[i]);
        hash.add(first[i], second[i]);
        hashes[i] = hash.value();
      }
    }
    if (k == key_.size()) return;
    const word* const last = values[key_[k]] + begin;
    for (std::uint32_t i = 0; i < n; ++i) {
      key_hash hash(hashes[i]);
      hash.add(last[i]);
      hashes[i] = hash.value();
    }
  }

  column_store* rows_;
  std::vector<std::uint32_t> key_;
  row_set set_;
  std::vector<reservation> reserved_;  // by worker
};

}  // namespace gpulog::storage
