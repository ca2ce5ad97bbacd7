#pragma once

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstdint>
#include <cstring>
#include <numeric>
#include <utility>
#include <vector>

#include "storage/calibration.hpp"
#include "storage/indexes/key_level.hpp"

/// HISA (paper, section 4): a sorted index array over the rows of a relation, with a hash table from a key to its first
/// position.
namespace gpulog::storage {

/// The columns of an index.
struct index_layout {
  std::vector<std::uint32_t> order;        ///< columns, key first
  std::vector<std::uint32_t> key_lengths;  ///< prefixes of the order that are searched, ascending
  /// Columns that matches read. In `hash` mode the run holds these columns in sorted order, so that the rows of a key
  /// are read sequentially; in `hisa` mode, as published, the run holds positions in the data array.
  std::vector<std::uint32_t> stored;
  bool positions = false;
  double load = 0.5;  ///< load factor of the hash tables; published: 0.8

  [[nodiscard]] std::uint32_t sorted_columns() const { return key_lengths.empty() ? 0 : key_lengths.back(); }
};

/// Columns of a relation's rows, as pointers; valid until the relation grows.
using column_pointers = std::vector<const word*>;

/// Like sort_rows(), for n rows with small values: one pass per column (counting sort: Seward 1954).
/// @return false without sorting if there are no columns or few rows, or if a column has large values
inline bool sort_by_counts(memory_resource& resource, const column_pointers& columns,
                           const std::vector<std::uint32_t>& by, std::uint64_t begin, std::uint64_t n,
                           array<std::uint32_t>& sorted) {
  if (by.empty() || n < calibration::least_counted_rows) return false;
  std::vector<word> largest;
  for (const std::uint32_t c : by) {
    const word* const column = columns[c] + begin;
    word most = 0;
    for (std::uint64_t i = 0; i < n; ++i) most = std::max(most, column[i]);
    if (most > calibration::counted_factor * n) return false;
    largest.push_back(most);
  }
  array<std::uint32_t> other(resource, by.size() > 1 ? n : 0);
  array<std::uint32_t> places(resource);
  std::uint32_t* from = by.size() % 2 == 1 ? other.data() : sorted.data();
  std::uint32_t* to = by.size() % 2 == 1 ? sorted.data() : other.data();
  for (std::size_t k = by.size(); k-- > 0; std::swap(from, to)) {
    const word* const column = columns[by[k]] + begin;
    places.release();
    places.resize(largest[k] + 2ULL);
    std::uint32_t* const place = places.data();
    for (std::uint64_t i = 0; i < n; ++i) ++place[column[i] + 1ULL];
    for (std::uint64_t value = 1; value <= largest[k]; ++value) place[value] += place[value - 1];
    if (k + 1 == by.size()) {
      for (std::uint64_t row = 0; row < n; ++row) to[place[column[row]]++] = static_cast<std::uint32_t>(row);
    } else {
      for (std::uint64_t i = 0; i < n; ++i) to[place[column[from[i]]]++] = from[i];
    }
  }
  return true;
}

/// Returns the union of the bits of n values.
template <class Backend>
[[nodiscard]] word all_bits(Backend& backend, const word* values, std::uint64_t n) {
  std::atomic<word> all{0};
  backend.for_each_tile(n, std::uint64_t{1} << 16, [&all, values](unsigned, std::uint64_t from, std::uint64_t until) {
    word own = 0;
    for (std::uint64_t i = from; i < until; ++i) own |= values[i];
    all.fetch_or(own, std::memory_order_relaxed);
  });
  return all.load(std::memory_order_relaxed);
}

/// Sorts rows by all columns at once: the items are keys of several columns, with the number of the row in the lowest
/// bits.
/// @param widths number of bits by column; all columns and a number of a row fit into 64 bits
template <class Backend>
[[nodiscard]] const std::uint64_t* sort_packed(Backend& backend, const column_pointers& columns,
                                               const std::vector<std::uint32_t>& by,
                                               const std::vector<unsigned>& widths, std::uint64_t begin,
                                               array<std::uint64_t>& items, array<std::uint64_t>& scratch) {
  const std::uint64_t n = items.size();
  std::uint64_t* const item = items.data();
  backend.for_each(n, [&, item](std::uint64_t i) {
    std::uint64_t key = 0;
    for (std::size_t k = 0; k < by.size(); ++k) key = key << widths[k] | columns[by[k]][begin + i];
    item[i] = key << std::bit_width(n - 1) | i;
  });
  const auto first = static_cast<unsigned>(std::bit_width(n - 1));
  return backend.radix_sort(item, scratch.data(), n, first, std::accumulate(widths.begin(), widths.end(), first));
}

/// Sorts rows column by column, from the last to the first. The items are values, with the row in the lower half.
template <class Backend>
[[nodiscard]] const std::uint64_t* sort_columns(Backend& backend, const column_pointers& columns,
                                                const std::vector<std::uint32_t>& by,
                                                const std::vector<unsigned>& widths, std::uint64_t begin,
                                                array<std::uint64_t>& items, array<std::uint64_t>& scratch) {
  const std::uint64_t n = items.size();
  std::uint64_t* current = items.data();
  std::uint64_t* other = scratch.data();
  backend.for_each(n, [current](std::uint64_t i) { current[i] = i; });
  for (std::size_t k = by.size(); k-- > 0;) {
    const word* const column = columns[by[k]] + begin;
    backend.for_each(n, [current, column](std::uint64_t i) {
      const auto row = static_cast<word>(current[i]);
      current[i] = pack(column[row], row);
    });
    if (backend.radix_sort(current, other, n, 32, 32 + widths[k]) != current) std::swap(current, other);
  }
  return current;
}

/// Sorts rows [begin, end) by the given columns, most significant first (Algorithm 1: a stable sort from the last
/// column to the first). Fills `sorted` with row - begin.
template <class Backend>
void sort_rows(Backend& backend, memory_resource& resource, const column_pointers& columns,
               const std::vector<std::uint32_t>& by, std::uint64_t begin, std::uint64_t end,
               array<std::uint32_t>& sorted) {
  const std::uint64_t n = end - begin;
  sorted.renew(n);
  std::uint32_t* const out = sorted.data();
  if (n < 2) {
    std::fill_n(out, n, 0U);
    return;
  }
  if (backend.workers() == 1 && sort_by_counts(resource, columns, by, begin, n, sorted)) return;
  std::vector<unsigned> widths;
  unsigned width = static_cast<unsigned>(std::bit_width(n - 1));
  for (const std::uint32_t c : by) {
    // Passes above the highest used bit would find a single digit only.
    widths.push_back(static_cast<unsigned>(std::bit_width(all_bits(backend, columns[c] + begin, n))));
    width += widths.back();
  }
  array<std::uint64_t> items(resource, n, backend::fresh_memory::anything);
  array<std::uint64_t> scratch(resource, n, backend::fresh_memory::anything);
  const bool is_packed = width <= 64;
  const std::uint64_t* const result = is_packed ? sort_packed(backend, columns, by, widths, begin, items, scratch)
                                                : sort_columns(backend, columns, by, widths, begin, items, scratch);
  const std::uint64_t mask = is_packed ? (std::uint64_t{1} << std::bit_width(n - 1)) - 1 : UINT32_MAX;
  backend.for_each(n, [result, out, mask](std::uint64_t i) { out[i] = static_cast<std::uint32_t>(result[i] & mask); });
}

/// A sorted index array with its key levels. Immutable unless opened for appending; at most 2^32 - 1 rows.
class sorted_run {
 public:
  /// @param may_be_direct whether dense keys may do without a hash table; false if rows are appended
  sorted_run(memory_resource& resource, const index_layout& layout, bool may_be_direct = true) : positions_(resource) {
    for (std::uint32_t length : layout.key_lengths)
      levels_.emplace_back(resource, length, layout.load, may_be_direct && !layout.positions);
    if (!layout.positions) {
      for (std::size_t i = 0; i < layout.stored.size(); ++i) stored_.emplace_back(resource);
    }
  }

  [[nodiscard]] std::uint64_t rows() const { return rows_; }
  [[nodiscard]] const key_level& level(std::size_t number) const { return levels_[number]; }
  /// Returns stored column `number` of the layout, in sorted order (`hash` mode).
  [[nodiscard]] const word* stored(std::size_t number) const { return stored_[number].data(); }
  /// Returns rows of the data array, in sorted order (`hisa` mode).
  [[nodiscard]] const std::uint32_t* positions() const { return positions_.data(); }
  [[nodiscard]] std::uint64_t bytes() const {
    std::uint64_t sum = positions_.bytes();
    for (const auto& column : stored_) sum += column.bytes();
    for (const auto& one : levels_) sum += one.bytes();
    return sum;
  }

  template <class Backend>
  void build(Backend& backend, memory_resource& resource, const index_layout& layout, const column_pointers& columns,
             std::uint64_t begin, std::uint64_t end) {
    rows_ = end - begin;
    array<std::uint32_t> sorted(resource);
    const std::vector<std::uint32_t> by(layout.order.begin(),
                                        layout.order.begin() + static_cast<std::ptrdiff_t>(layout.sorted_columns()));
    sort_rows(backend, resource, columns, by, begin, end, sorted);
    const std::uint32_t* const row = sorted.data();
    for (auto& one : levels_) {
      one.build(backend, rows_,
                [&, row](std::uint32_t c, std::uint64_t i) { return columns[layout.order[c]][begin + row[i]]; });
    }
    if (layout.positions) {
      positions_.renew(rows_);
      std::uint32_t* const out = positions_.data();
      backend.for_each(rows_,
                       [out, row, begin](std::uint64_t i) { out[i] = static_cast<std::uint32_t>(begin + row[i]); });
    }
    for (std::size_t s = 0; s < stored_.size(); ++s) {
      stored_[s].renew(rows_);
      backend.gather(columns[layout.stored[s]] + begin, row, rows_, stored_[s].data());
    }
  }

  /// Empties the run and makes room for `rows` appended rows (`hash` mode).
  void open(std::uint64_t rows) {
    rows_ = 0;
    for (auto& one : levels_) one.open(rows);
    for (auto& column : stored_) column.resize(rows);
  }
  /// Appends a row of the columns.
  /// @return false if the rows of its key exist but are not the last ones; then the run cannot be searched
  [[nodiscard]] bool append(const index_layout& layout, const column_pointers& columns, std::uint64_t row) {
    const auto key = [&](std::uint32_t c) { return columns[layout.order[c]][row]; };
    for (auto& one : levels_) {
      if (!one.append(static_cast<std::uint32_t>(rows_), key)) return false;
    }
    for (std::size_t s = 0; s < stored_.size(); ++s) stored_[s][rows_] = columns[layout.stored[s]][row];
    ++rows_;
    return true;
  }

  /// Releases the tables of all levels; afterwards the run can only be merged.
  void drop_tables() {
    for (auto& one : levels_) one.drop_table();
  }

  /// Becomes the merge of two runs; reuses this run's buffers if they suffice.
  /// @param frees whether the two runs may lose their rows: a single worker frees rows as it proceeds
  template <class Backend>
  void merge(Backend& backend, sorted_run& a, sorted_run& b, const buffer_policy& buffers, bool frees) {
    freed_rows freed(backend.workers() == 1 && frees);
    rows_ = a.rows_ + b.rows_;
    const std::uint64_t capacity = buffers.capacity(a.rows_, b.rows_);
    for (auto& column : stored_) column.renew(rows_, capacity);
    const bool with_positions = a.positions_.size() != 0 || b.positions_.size() != 0;
    if (with_positions) positions_.renew(rows_, capacity);
    for (std::size_t l = 0; l < levels_.size(); ++l) {
      // The finest level moves the rows.
      if (l + 1 < levels_.size()) {
        levels_[l].merge(backend, a.levels_[l], b.levels_[l], buffers,
                         [](bool, std::uint32_t, std::uint32_t, std::uint32_t) {});
        continue;
      }
      levels_[l].merge(backend, a.levels_[l], b.levels_[l], buffers,
                       [&](bool from_b, std::uint32_t source, std::uint32_t count, std::uint32_t target) {
                         sorted_run& from = from_b ? b : a;
                         for (std::size_t s = 0; s < stored_.size(); ++s) {
                           copy_rows(from.stored_[s].data() + source, count, stored_[s].data() + target);
                         }
                         if (with_positions) {
                           copy_rows(from.positions_.data() + source, count, positions_.data() + target);
                         }
                         freed.free_before(source + std::uint64_t{count}, from.stored_, from_b);
                       });
    }
  }

 private:
  /// Frees the rows that a merge has read, in large steps.
  class freed_rows {
   public:
    explicit freed_rows(bool frees) : frees_(frees) {}
    void free_before(std::uint64_t row, std::vector<array<word>>& columns, bool of_second) {
      constexpr std::uint64_t least_rows = 1u << 18;  // one call per 1 MB
      std::uint64_t& begin = begin_[of_second ? 1 : 0];
      if (!frees_ || row - begin < least_rows) return;
      for (array<word>& column : columns)
        column.resource().discard(column.data() + begin, (row - begin) * sizeof(word));
      begin = row;
    }

   private:
    bool frees_;
    std::uint64_t begin_[2] = {0, 0};
  };

  static void copy_rows(const word* from, std::uint32_t count, word* to) {
    if (count < 16) {
      for (std::uint32_t i = 0; i < count; ++i) to[i] = from[i];
    } else {
      std::memcpy(to, from, count * sizeof(word));
    }
  }

  std::vector<key_level> levels_;
  std::vector<array<word>> stored_;
  array<std::uint32_t> positions_;
  std::uint64_t rows_ = 0;
};

}  // namespace gpulog::storage
