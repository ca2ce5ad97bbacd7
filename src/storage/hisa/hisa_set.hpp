#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "storage/indexes/sorted_index.hpp"

namespace gpulog::storage {

/// The published tuple set: all tuples as a sorted index array over the relation's data array, and a hash table on the
/// first column. New tuples are sorted, made unique, reduced by those in full, and merged (paper, section 5.1).
class hisa_set {
 public:
  hisa_set(memory_resource& resource, std::uint32_t arity, buffer_policy buffers)
      : resource_(&resource),
        positions_(resource),
        spare_positions_(resource),
        first_column_(resource, 1, load_factor),
        spare_level_(resource, 1, load_factor),
        buffers_(buffers),
        arity_(arity) {}

  static constexpr double load_factor = 0.8;

  [[nodiscard]] std::uint64_t bytes() const {
    return positions_.bytes() + spare_positions_.bytes() + first_column_.bytes() + spare_level_.bytes();
  }

  /// Which of rows [0, n) of the candidates are in no earlier candidate row and not in the set: sorted by tuple. Fills
  /// ranks with each one's place among the set's tuples. @return their number
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
    // The set difference of a sorted, unique sequence; found is UINT32_MAX.
    backend.for_each(n, [&, row, rank](std::uint64_t i) {
      rank[i] = duplicate;
      if (i != 0 && same_tuple(candidates, row[i], candidates, row[i - 1])) return;
      rank[i] = rank_in_full(data, candidates, row[i]);
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

  /// Merges rows [first_row, first_row + n) of data, sorted and new, with the ranks from select_new: the path merge of
  /// two sorted index arrays. As every rank is known from the set difference, it needs no comparison.
  template <class Backend>
  void merge(Backend& backend, const column_pointers& data, std::uint64_t first_row,
             const array<std::uint32_t>& ranks) {
    const std::uint64_t n = ranks.size();
    if (n == 0) return;
    const std::uint64_t full = positions_.size();
    resize_spare(full + n, buffers_.capacity(full, n));
    const std::uint32_t* const rank = ranks.data();
    const std::uint32_t* const old = positions_.data();
    std::uint32_t* const out = spare_positions_.data();
    backend.for_each_tile(full + n, merge_tile, [=](unsigned, std::uint64_t begin, std::uint64_t end) {
      // New tuple i goes to rank[i] + i: the first one at or behind begin.
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
        if (at < end) {
          out[at++] = static_cast<std::uint32_t>(first_row + i);
          ++i;
        }
      }
    });
    positions_.swap(spare_positions_);

    key_level delta(*resource_, 1, load_factor);
    const word* const leading = data[0] + first_row;
    delta.build(backend, n, [leading](std::uint32_t, std::uint64_t i) { return leading[i]; });
    spare_level_.merge(backend, first_column_, delta, buffers_,
                       [](bool, std::uint32_t, std::uint32_t, std::uint32_t) {});
    std::swap(first_column_, spare_level_);
    if (!buffers_.eager) {
      spare_positions_.release();
      spare_level_ = key_level(*resource_, 1, load_factor);
    }
  }

  /// Whether row `row` of the candidates is in the set.
  [[nodiscard]] bool contains(const column_pointers& data, const column_pointers& candidates, std::uint64_t row) const {
    return rank_in_full(data, candidates, row) == duplicate;
  }

 private:
  static constexpr std::uint32_t duplicate = UINT32_MAX;  // no rank: sets end before 2^32 - 1 rows
  static constexpr std::uint64_t merge_tile = 1u << 16;

  [[nodiscard]] bool same_tuple(const column_pointers& a, std::uint64_t i, const column_pointers& b,
                                std::uint64_t j) const {
    for (std::uint32_t c = 0; c < arity_; ++c) {
      if (a[c][i] != b[c][j]) return false;
    }
    return true;
  }

  /// A range query on the first column, then a binary search in the range.
  [[nodiscard]] std::uint32_t rank_in_full(const column_pointers& data, const column_pointers& candidates,
                                           std::uint64_t row) const {
    if (positions_.size() == 0) return 0;
    const word leading = candidates[0][row];
    const auto key = [leading](std::uint32_t) { return leading; };
    const row_range range = first_column_.find(leading, first_column_.home(leading), key);
    if (range.count == 0) return first_column_.rows_below(leading);
    std::uint32_t low = range.first;
    std::uint32_t high = range.first + range.count;
    while (low < high) {
      const std::uint32_t middle = low + (high - low) / 2;
      const std::uint32_t other = positions_[middle];
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

  void resize_spare(std::uint64_t size, std::uint64_t capacity) {
    if (spare_positions_.capacity() < size) {
      spare_positions_.release();
      spare_positions_.set_capacity(capacity);
    }
    spare_positions_.resize(size);
  }

  memory_resource* resource_;
  array<std::uint32_t> positions_;  // of tuples in the data array, sorted by tuple
  array<std::uint32_t> spare_positions_;
  key_level first_column_;
  key_level spare_level_;
  buffer_policy buffers_;
  std::uint32_t arity_;
};

}  // namespace gpulog::storage
