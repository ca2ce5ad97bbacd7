#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "storage/indexes/sorted_index.hpp"

namespace gpulog::storage {

/// The published tuple set: all tuples as a sorted index array over the relation's data array, and a hash table on the
/// first column. New tuples are sorted, deduplicated, reduced by the tuples in full, and merged (paper, section 5.1).
/// As a merge copies full, small numbers of new tuples are first kept in smaller arrays (stays_apart()).
class hisa_set {
 public:
  hisa_set(memory_resource& resource, std::uint32_t arity, buffer_policy buffers)
      : resource_(&resource), spare_(resource), buffers_(buffers), arity_(arity) {}

  static constexpr double load_factor = 0.8;

  [[nodiscard]] std::uint64_t bytes() const {
    std::uint64_t sum = spare_.bytes();
    for (const sorted_part& part : parts_) sum += part.bytes();
    return sum;
  }

  /// Selects the candidates of rows [0, n) that occur neither in an earlier candidate row nor in the set, sorted by
  /// tuple. Fills `ranks` with each tuple's place among the tuples of the last array.
  /// @return the number of selected rows
  template <class Backend>
  std::uint64_t select_new(Backend& backend, const column_pointers& data, const column_pointers& candidates,
                           std::uint64_t n, array<std::uint32_t>& selected, array<std::uint32_t>& ranks) const {
    std::vector<std::uint32_t> by(arity_);
    for (std::uint32_t c = 0; c < arity_; ++c) by[c] = c;
    array<std::uint32_t> sorted(*resource_);
    sort_rows(backend, *resource_, candidates, by, 0, n, sorted);
    array<std::uint32_t> rank_of(*resource_, n);
    const std::uint32_t* const row = sorted.data();
    std::uint32_t* const rank = rank_of.data();
    selected.resize(n);
    // Computes the set difference of a sorted sequence without duplicates; `found` is UINT32_MAX.
    backend.for_each(n, [&, row, rank](std::uint64_t i) {
      rank[i] = duplicate;
      if (i != 0 && same_tuple(candidates, row[i], candidates, row[i - 1])) return;
      rank[i] = rank_of_new(data, candidates, row[i]);
    });
    const std::uint64_t fresh = backend.select_if(
        n, [rank](std::uint64_t i) { return rank[i] != duplicate; }, selected.data());
    ranks.resize(fresh);
    backend.gather(rank, selected.data(), fresh, ranks.data());
    std::uint32_t* const chosen = selected.data();
    backend.for_each(fresh, [chosen, row](std::uint64_t i) { chosen[i] = row[chosen[i]]; });
    selected.resize(fresh);
    return fresh;
  }

  /// Adds rows [first_row, first_row + n) of data, which are sorted and new, with the ranks from select_new().
  template <class Backend>
  void merge(Backend& backend, const column_pointers& data, std::uint64_t first_row,
             const array<std::uint32_t>& ranks) {
    const std::uint64_t n = ranks.size();
    if (n == 0) return;
    sorted_part added(*resource_);
    added.positions.resize(n);
    std::uint32_t* const position = added.positions.data();
    backend.for_each(n, [=](std::uint64_t i) { position[i] = static_cast<std::uint32_t>(first_row + i); });
    const word* const leading = data[0] + first_row;
    added.first_column.build(backend, n, [leading](std::uint32_t, std::uint64_t i) { return leading[i]; });
    if (parts_.empty() || stays_apart(parts_.back().rows(), n)) {
      parts_.push_back(std::move(added));
      return;
    }
    absorb(backend, parts_.size() - 1, added, ranks.data());
    while (parts_.size() >= 2 && !stays_apart(parts_[parts_.size() - 2].rows(), parts_.back().rows())) {
      const sorted_part younger = std::move(parts_.back());
      parts_.pop_back();
      array<std::uint32_t> places(*resource_, younger.rows());
      std::uint32_t* const place = places.data();
      backend.for_each(younger.rows(), [&, place](std::uint64_t i) {
        place[i] = rank_in(parts_.back(), data, data, younger.positions[i]);
      });
      absorb(backend, parts_.size() - 1, younger, place);
    }
  }

  /// Returns whether row `row` of the candidates is in the set.
  [[nodiscard]] bool contains(const column_pointers& data, const column_pointers& candidates, std::uint64_t row) const {
    return rank_of_new(data, candidates, row) == duplicate;
  }

 private:
  static constexpr std::uint32_t duplicate = UINT32_MAX;  // never a rank: sets have fewer than 2^32 - 1 rows
  static constexpr std::uint64_t merge_tile = 1u << 16;

  /// A sorted index array with its hash table.
  struct sorted_part {
    explicit sorted_part(memory_resource& resource) : positions(resource), first_column(resource, 1, load_factor) {}
    [[nodiscard]] std::uint64_t rows() const { return positions.size(); }
    [[nodiscard]] std::uint64_t bytes() const { return positions.bytes() + first_column.bytes(); }

    array<std::uint32_t> positions;  // positions of tuples in the data array, sorted by tuple
    key_level first_column;
  };

  /// Merges a younger array into a part by a path merge. As the place of each younger tuple in the part is known, no
  /// comparisons are needed.
  template <class Backend>
  void absorb(Backend& backend, std::size_t number, const sorted_part& younger, const std::uint32_t* rank) {
    sorted_part& elder = parts_[number];
    const std::uint64_t full = elder.rows();
    const std::uint64_t n = younger.rows();
    // Only full has spare buffers.
    const bool is_full = number == 0;
    sorted_part fresh(*resource_);
    sorted_part& merged = is_full ? spare_ : fresh;
    const buffer_policy buffers = is_full ? buffers_ : buffer_policy{false, 0};
    resize(merged.positions, full + n, buffers.capacity(full, n));
    const std::uint32_t* const old = elder.positions.data();
    const std::uint32_t* const added = younger.positions.data();
    std::uint32_t* const out = merged.positions.data();
    backend.for_each_tile(full + n, merge_tile, [=](unsigned, std::uint64_t begin, std::uint64_t end) {
      // Younger tuple i is written to rank[i] + i; finds the first one at or after begin.
      std::uint64_t low = 0;
      std::uint64_t high = n;
      while (low < high) {
        const std::uint64_t middle = (low + high) / 2;
        if (rank[middle] + middle < begin) {
          low = middle + 1;
        } else {
          high = middle;
        }
      }
      std::uint64_t i = low;
      for (std::uint64_t at = begin; at < end;) {
        const std::uint64_t next_new = i < n ? rank[i] + i : end;
        const std::uint64_t stop = next_new < end ? next_new : end;
        std::copy(old + (at - i), old + (at - i) + (stop - at), out + at);
        at = stop;
        if (at < end) out[at++] = added[i++];
      }
    });
    merged.first_column.merge(backend, elder.first_column, younger.first_column, buffers,
                              [](bool, std::uint32_t, std::uint32_t, std::uint32_t) {});
    std::swap(elder, merged);
    if (!buffers.eager) merged = sorted_part(*resource_);
  }

  [[nodiscard]] bool same_tuple(const column_pointers& a, std::uint64_t i, const column_pointers& b,
                                std::uint64_t j) const {
    for (std::uint32_t c = 0; c < arity_; ++c) {
      if (a[c][i] != b[c][j]) return false;
    }
    return true;
  }

  /// Returns the place of a tuple in the last array, or `duplicate` if an array contains it.
  [[nodiscard]] std::uint32_t rank_of_new(const column_pointers& data, const column_pointers& candidates,
                                          std::uint64_t row) const {
    std::uint32_t rank = 0;
    for (const sorted_part& part : parts_) {
      rank = rank_in(part, data, candidates, row);
      if (rank == duplicate) break;
    }
    return rank;
  }

  /// Looks up the range of the first column, then searches the range by bisection.
  [[nodiscard]] std::uint32_t rank_in(const sorted_part& part, const column_pointers& data,
                                      const column_pointers& candidates, std::uint64_t row) const {
    const word leading = candidates[0][row];
    const auto key = [leading](std::uint32_t) { return leading; };
    const row_range range = part.first_column.find(leading, part.first_column.home(leading), key);
    if (range.count == 0) return part.first_column.rows_below(leading);
    std::uint32_t low = range.first;
    std::uint32_t high = range.first + range.count;
    while (low < high) {
      const std::uint32_t middle = low + (high - low) / 2;
      const std::uint32_t other = part.positions[middle];
      int order = 0;
      for (std::uint32_t c = 1; c < arity_ && order == 0; ++c) {
        const word left = data[c][other];
        const word right = candidates[c][row];
        order = left < right ? -1 : left > right ? 1 : 0;
      }
      if (order == 0) return duplicate;
      if (order < 0) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    return low;
  }

  static void resize(array<std::uint32_t>& buffer, std::uint64_t size, std::uint64_t capacity) {
    if (buffer.capacity() < size) {
      buffer.release();
      buffer.set_capacity(capacity);
    }
    buffer.resize(size);
  }

  memory_resource* resource_;
  std::vector<sorted_part> parts_;  // full, then smaller ones
  sorted_part spare_;               // eager buffer management: the buffers of full's last merge
  buffer_policy buffers_;
  std::uint32_t arity_;
};

}  // namespace gpulog::storage
