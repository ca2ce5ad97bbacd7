#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <vector>

#include "storage/indexes/sorted_index.hpp"
#include "storage/relation/relation_options.hpp"
#include "storage/sets/access.hpp"
#include "storage/sets/hash.hpp"

namespace gpulog::storage {

/// Rows in columns. Rows [0, old_rows) are old, [old_rows, rows) delta; the running phase appends rows up to the tail.
struct column_store {
  column_store(memory_resource& from, std::uint32_t arity, const relation_options& chosen)
      : resource(&from), options(chosen) {
    for (std::uint32_t c = 0; c < arity; ++c) columns.emplace_back(from.for_columns());
  }

  [[nodiscard]] std::uint32_t arity() const { return static_cast<std::uint32_t>(columns.size()); }
  /// Returns the end of all rows, including appended ones.
  [[nodiscard]] std::uint64_t end() const { return tail.load(std::memory_order_relaxed); }
  void set_end(std::uint64_t row) { tail.store(row, std::memory_order_relaxed); }
  [[nodiscard]] std::uint64_t bytes() const {
    std::uint64_t sum = 0;
    for (const auto& column : columns) sum += column.bytes();
    return sum;
  }
  [[nodiscard]] column_pointers pointers() const {
    column_pointers all(columns.size());
    for (std::size_t c = 0; c < all.size(); ++c) all[c] = columns[c].data();
    return all;
  }
  void show(std::uint64_t old_until, std::uint64_t until) {
    old_rows = old_until;
    rows = until;
  }

  /// Returns the number of rows that fit into every column. The last column grows last, and an allocation may fail
  /// before.
  [[nodiscard]] std::uint64_t capacity() const { return columns.back().capacity(); }
  [[nodiscard]] bool has_room(std::uint64_t room) const { return end() + room <= capacity(); }
  void make_room(std::uint64_t room) {
    if (!has_room(room)) reserve(next_capacity(end() + room));
  }
  [[nodiscard]] std::uint64_t next_capacity(std::uint64_t least) const {
    constexpr std::uint64_t least_rows = 128;
    return std::max({least, capacity() + capacity() / 2, least_rows});
  }
  void reserve(std::uint64_t capacity) {
    for (auto& column : columns) column.set_capacity(capacity);
  }

  /// Fills empty columns with rows.
  /// @param lasts whether the given columns stay valid and unchanged, so that no copy is necessary until more rows
  /// follow
  void adopt(const column_pointers& values, std::uint64_t n, bool lasts) {
    if (!lasts) reserve(n);
    for (std::size_t c = 0; c < columns.size(); ++c) {
      if (lasts) {
        columns[c].show(values[c], n);
      } else {
        std::copy_n(values[c], n, columns[c].data());
      }
    }
    set_end(n);
  }
  /// Copies the rows of columns that belong to another owner, so that rows can be written.
  void own() {
    for (auto& column : columns) column.own();
  }

  /// Appends n tuples, one array per column. Requires sufficient room.
  /// @return n
  template <class Access>
  std::uint32_t append(const word* const* values, std::uint32_t n) {
    const std::uint64_t row = Access::add(tail, n);
    for (std::size_t c = 0; c < columns.size(); ++c) std::copy_n(values[c], n, columns[c].data() + row);
    return n;
  }
  /// Appends packed tuples of one or two words.
  template <class Access>
  std::uint32_t append_packed(const std::uint64_t* keys, std::uint32_t n) {
    const std::uint64_t row = Access::add(tail, n);
    word* const first = columns.front().data() + row;
    word* const last = columns.back().data() + row;
    if (columns.size() == 1) {
      for (std::uint32_t i = 0; i < n; ++i) first[i] = static_cast<word>(keys[i]);
    } else {
      for (std::uint32_t i = 0; i < n; ++i) {
        first[i] = static_cast<word>(keys[i] >> 32);
        last[i] = static_cast<word>(keys[i]);
      }
    }
    return n;
  }
  void write(std::uint64_t row, const word* const* values, std::uint32_t i) {
    for (std::size_t c = 0; c < columns.size(); ++c) columns[c][row] = values[c][i];
  }
  void copy(std::uint64_t from, std::uint64_t to) {
    for (auto& column : columns) column[to] = column[from];
  }
  [[nodiscard]] bool equals(std::uint64_t row, const word* const* values, std::uint32_t i) const {
    for (std::size_t c = 0; c < columns.size(); ++c) {
      if (columns[c][row] != values[c][i]) return false;
    }
    return true;
  }

  memory_resource* resource;
  relation_options options;
  std::vector<array<word>> columns;
  std::uint64_t old_rows = 0;
  std::uint64_t rows = 0;
  std::uint64_t erased_rows = 0;  ///< number of rows that are no longer tuples but still in the columns
  shared_counter tail{0};
  phase_times times;
};

}  // namespace gpulog::storage
