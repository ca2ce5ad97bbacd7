#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "storage/indexes/sorted_index.hpp"
#include "storage/sets/hash.hpp"

namespace gpulog::storage {

/// Chains of rows that are equal in some columns. In contrast to an index, single rows can be added and removed. Rows
/// keep their numbers and columns until the chains are cleared.
class row_chains {
 public:
  static constexpr std::uint64_t none = UINT64_MAX;

  row_chains(memory_resource& resource, std::vector<std::uint32_t> key_columns)
      : key_columns_(std::move(key_columns)),
        slots_(resource),
        heads_(resource),
        samples_(resource),
        next_(resource),
        previous_(resource) {}

  [[nodiscard]] const std::vector<std::uint32_t>& key_columns() const { return key_columns_; }
  [[nodiscard]] std::uint64_t groups() const { return heads_.size(); }
  [[nodiscard]] std::uint64_t bytes() const {
    return slots_.bytes() + heads_.bytes() + samples_.bytes() + next_.bytes() + previous_.bytes();
  }

  /// Removes all rows; further rows start at first_row.
  void clear(std::uint64_t first_row) {
    first_row_ = first_row;
    heads_.resize(0);
    samples_.resize(0);
    next_.resize(0);
    previous_.resize(0);
    if (slots_.size() > most_slots_kept) {
      slots_.release();
    } else {
      std::fill_n(slots_.data(), slots_.size(), 0);
    }
  }

  /// Adds the rows from the last added row up to `end`.
  /// @throws memory_exceeded
  void add_until(const column_pointers& columns, std::uint64_t end) {
    const std::uint64_t begin = first_row_ + next_.size();
    if (end <= begin) return;
    reserve(next_, end - first_row_);
    reserve(previous_, end - first_row_);
    next_.resize(end - first_row_);
    previous_.resize(end - first_row_);
    for (std::uint64_t row = begin; row < end; ++row) {
      if ((heads_.size() + 1) * 2 > slots_.size()) grow(columns);
      const std::uint64_t slot = find_slot(columns, row);
      if (slots_[slot] == 0) {
        heads_.push_back(none);
        samples_.push_back(row);
        slots_[slot] = heads_.size();
      }
      std::uint64_t& head = heads_[slots_[slot] - 1];
      next_[row - first_row_] = head;
      previous_[row - first_row_] = none;
      if (head != none) previous_[head - first_row_] = row;
      head = row;
    }
  }

  /// Removes a row from the row's chain.
  void remove(const column_pointers& columns, std::uint64_t row) {
    const std::uint64_t after = next_[row - first_row_];
    const std::uint64_t before = previous_[row - first_row_];
    if (after != none) previous_[after - first_row_] = before;
    if (before != none) {
      next_[before - first_row_] = after;
    } else {
      heads_[slots_[find_slot(columns, row)] - 1] = after;
    }
  }

  /// Returns the number of the chain with the same key as the given row of the relation, or `none`.
  [[nodiscard]] std::uint64_t group(const column_pointers& columns, std::uint64_t row) const {
    if (slots_.size() == 0) return none;
    const std::uint64_t number = slots_[find_slot(columns, row)];
    return number == 0 ? none : number - 1;
  }
  /// Returns the first row of a chain, or `none` for an empty chain.
  [[nodiscard]] std::uint64_t first(std::uint64_t group) const { return group == none ? none : heads_[group]; }
  /// Returns the next row of the chain.
  [[nodiscard]] std::uint64_t next(std::uint64_t row) const { return next_[row - first_row_]; }

 private:
  static constexpr std::uint64_t most_slots_kept = 1u << 12;

  static void reserve(array<std::uint64_t>& links, std::uint64_t rows) {
    if (links.capacity() < rows) links.set_capacity(rows + rows / 2);
  }

  [[nodiscard]] std::uint64_t hash_of(const column_pointers& columns, std::uint64_t row) const {
    key_hash hash;
    for (std::uint32_t c : key_columns_) hash.add(columns[c][row]);
    return mix(hash.value());
  }
  /// Returns the slot of the row's key, or the free slot for the key.
  [[nodiscard]] std::uint64_t find_slot(const column_pointers& columns, std::uint64_t row) const {
    const std::uint64_t* const slots = slots_.data();
    std::uint64_t at = scale(hash_of(columns, row), slots_.size());
    while (slots[at] != 0 && !same_key(columns, samples_[slots[at] - 1], row)) {
      at = at + 1 == slots_.size() ? 0 : at + 1;
    }
    return at;
  }
  [[nodiscard]] bool same_key(const column_pointers& columns, std::uint64_t a, std::uint64_t b) const {
    for (std::uint32_t c : key_columns_) {
      if (columns[c][a] != columns[c][b]) return false;
    }
    return true;
  }
  void grow(const column_pointers& columns) {
    const std::uint64_t capacity = slots_.size() == 0 ? 64 : slots_.size() * 2;
    array<std::uint64_t> larger(slots_.resource(), capacity);
    larger.swap(slots_);
    for (std::uint64_t number = 0; number < samples_.size(); ++number) {
      std::uint64_t at = scale(hash_of(columns, samples_[number]), capacity);
      while (slots_[at] != 0) at = at + 1 == capacity ? 0 : at + 1;
      slots_[at] = number + 1;
    }
  }

  std::vector<std::uint32_t> key_columns_;
  array<std::uint64_t> slots_;     // number of a group + 1; 0: free
  array<std::uint64_t> heads_;     // by group
  array<std::uint64_t> samples_;   // by group: a row with the group's key, in the chain or removed
  array<std::uint64_t> next_;      // by row - first_row_
  array<std::uint64_t> previous_;  // likewise
  std::uint64_t first_row_ = 0;
};

}  // namespace gpulog::storage
