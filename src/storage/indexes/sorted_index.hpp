#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <memory>
#include <utility>
#include <vector>

#include "storage/calibration.hpp"
#include "storage/indexes/key_level.hpp"
#include "storage/indexes/run_policy.hpp"

/// HISA (paper, section 4): a sorted index array over rows of a relation, with a hash table from a key to its first
/// position. Over a growing relation an index is a short sequence of such runs.
namespace gpulog::storage {

/// What an index is of.
struct index_layout {
  std::vector<std::uint32_t> order;        ///< columns, key first
  std::vector<std::uint32_t> key_lengths;  ///< prefixes of the order that are searched, ascending
  /// Columns that matches read. In `hash` mode the run holds them in sorted order, so that the rows of a key are read
  /// in sequence; in `hisa` mode, as published, it holds positions in the data array.
  std::vector<std::uint32_t> stored;
  bool positions = false;
  double load = 0.5;  ///< of the hash tables; published: 0.8

  [[nodiscard]] std::uint32_t sorted_columns() const { return key_lengths.empty() ? 0 : key_lengths.back(); }
};

/// Columns of a relation's rows, as pointers; valid until the relation grows.
using column_pointers = std::vector<const word*>;

/// The same as sort_rows, for n rows with small values: one pass a column (counting sort: Seward 1954).
/// @return false where there are no columns or few rows, or where a column has values that are too large
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

/// Sorts rows [begin, end) by the given columns, the first one most significant (Algorithm 1: a stable sort from the
/// last column to the first). Fills sorted with row - begin.
template <class Backend>
void sort_rows(Backend& backend, memory_resource& resource, const column_pointers& columns,
               const std::vector<std::uint32_t>& by, std::uint64_t begin, std::uint64_t end,
               array<std::uint32_t>& sorted) {
  const std::uint64_t n = end - begin;
  sorted.resize(n);
  std::uint32_t* const out = sorted.data();
  if (n == 1) {
    out[0] = 0;
    return;
  }
  if (backend.workers() == 1 && sort_by_counts(resource, columns, by, begin, n, sorted)) return;
  array<std::uint64_t> items(resource, n);
  array<std::uint64_t> scratch(resource, n);
  std::uint64_t* current = items.data();
  std::uint64_t* other = scratch.data();
  backend.for_each(n, [current](std::uint64_t i) { current[i] = i; });
  for (std::size_t k = by.size(); k-- > 0;) {
    const word* const column = columns[by[k]] + begin;
    backend.for_each(n, [current, column](std::uint64_t i) {
      const auto row = static_cast<word>(current[i]);
      current[i] = pack(column[row], row);
    });
    // All passes above the highest bit in use would find one digit only.
    word all = 0;
    for (std::uint64_t i = 0; i < n; ++i) all |= column[i];
    std::uint64_t* result = backend.radix_sort(current, other, n, 32, 32 + static_cast<unsigned>(std::bit_width(all)));
    if (result != current) std::swap(current, other);
  }
  backend.for_each(n, [current, out](std::uint64_t i) { out[i] = static_cast<std::uint32_t>(current[i]); });
}

/// One sorted index array with its key levels. Immutable once built; at most 2^32 - 1 rows.
class sorted_run {
 public:
  sorted_run(memory_resource& resource, const index_layout& layout) : positions_(resource) {
    for (std::uint32_t length : layout.key_lengths)
      levels_.emplace_back(resource, length, layout.load, !layout.positions);
    if (!layout.positions) {
      for (std::size_t i = 0; i < layout.stored.size(); ++i) stored_.emplace_back(resource);
    }
  }

  [[nodiscard]] std::uint64_t rows() const { return rows_; }
  [[nodiscard]] const key_level& level(std::size_t number) const { return levels_[number]; }
  /// Stored column number `number` of the layout, in sorted order (`hash` mode).
  [[nodiscard]] const word* stored(std::size_t number) const { return stored_[number].data(); }
  /// Rows of the data array, in sorted order (`hisa` mode).
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
    const std::vector<std::uint32_t> by(layout.order.begin(), layout.order.begin() + layout.sorted_columns());
    sort_rows(backend, resource, columns, by, begin, end, sorted);
    const std::uint32_t* const row = sorted.data();
    for (auto& one : levels_) {
      one.build(backend, rows_,
                [&, row](std::uint32_t c, std::uint64_t i) { return columns[layout.order[c]][begin + row[i]]; });
    }
    if (layout.positions) {
      positions_.resize(rows_);
      std::uint32_t* const out = positions_.data();
      backend.for_each(rows_,
                       [out, row, begin](std::uint64_t i) { out[i] = static_cast<std::uint32_t>(begin + row[i]); });
    }
    for (std::size_t s = 0; s < stored_.size(); ++s) {
      stored_[s].resize(rows_);
      backend.gather(columns[layout.stored[s]] + begin, row, rows_, stored_[s].data());
    }
  }

  /// It can only be merged any more.
  void drop_tables() {
    for (auto& one : levels_) one.drop_table();
  }

  /// Becomes the merge of two runs; this run's buffers are used again where they suffice.
  /// @param frees whether the two runs may lose their rows: a single worker frees these behind itself
  template <class Backend>
  void merge(Backend& backend, sorted_run& a, sorted_run& b, const buffer_policy& buffers, bool frees) {
    freed_rows freed(backend.workers() == 1 && frees);
    rows_ = a.rows_ + b.rows_;
    const std::uint64_t capacity = buffers.capacity(a.rows_, b.rows_);
    const auto resize = [this, capacity](auto& buffer) {
      if (buffer.capacity() < rows_) {
        buffer.release();
        buffer.set_capacity(std::max(rows_, capacity));
      }
      buffer.resize(rows_);
    };
    for (auto& column : stored_) resize(column);
    const bool with_positions = a.positions_.size() != 0 || b.positions_.size() != 0;
    if (with_positions) resize(positions_);
    for (std::size_t l = 0; l < levels_.size(); ++l) {
      // The finest level carries the rows along.
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
  /// How far a merge has freed the rows that it has read.
  class freed_rows {
   public:
    explicit freed_rows(bool frees) : frees_(frees) {}
    void free_before(std::uint64_t row, std::vector<array<word>>& columns, bool of_second) {
      constexpr std::uint64_t least_rows = 1u << 18;  // a call for each 1 MB
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

/// An index over an append-only relation. `hash` mode: runs whose sizes fall geometrically, so that a row is merged
/// O(log n) times and full is never rewritten in every iteration. `hisa` mode: one run for full, merged with delta each
/// time, as published, unless delta has few rows. In both the rows of delta are a run of their own until the next
/// advance, so that old, delta and all can be read apart.
class sorted_index {
 public:
  sorted_index(memory_resource& resource, index_layout layout, buffer_policy buffers)
      : resource_(&resource), layout_(std::move(layout)), buffers_(buffers) {}

  [[nodiscard]] const index_layout& layout() const { return layout_; }
  [[nodiscard]] std::uint64_t bytes() const {
    std::uint64_t sum = spare_ ? spare_->bytes() : 0;
    for (const auto& run : old_) sum += run->bytes();
    for (const auto& run : delta_) sum += run->bytes();
    return sum;
  }

  /// Calls visit(run) for each run with rows of the part.
  template <class Visit>
  void for_each_run(bool with_old, bool with_delta, Visit&& visit) const {
    if (with_old) {
      for (const auto& run : old_) visit(*run);
    }
    if (with_delta) {
      for (const auto& run : delta_) visit(*run);
    }
  }

  /// Of so many, those that it does not cover.
  [[nodiscard]] std::uint64_t missing_rows(std::uint64_t rows) const { return rows - std::min(indexed_, rows); }

  /// Whether a refresh has nothing to do.
  [[nodiscard]] bool covers(std::uint64_t old_rows, std::uint64_t rows) const {
    return indexed_ == rows && delta_begin_ == old_rows;
  }

  /// Covers rows [0, rows), those from old_rows on as delta. Rows only ever join at the end.
  template <class Backend>
  void refresh(Backend& backend, const column_pointers& columns, std::uint64_t old_rows, std::uint64_t rows) {
    if (covers(old_rows, rows)) return;
    if (old_rows >= indexed_) {
      for (auto& run : std::exchange(delta_, {})) fold(backend, std::move(run));
    } else if (old_rows == 0 && !layout_.positions) {
      // All rows are delta again.
      old_.insert(old_.end(), std::make_move_iterator(delta_.begin()), std::make_move_iterator(delta_.end()));
      delta_ = std::exchange(old_, {});
    } else {
      forget_rows();  // rows that were old are delta again, and runs are never split
    }
    for (; indexed_ < old_rows; indexed_ = std::min(old_rows, indexed_ + max_run_rows)) {
      fold(backend, make_run(backend, columns, indexed_, std::min(old_rows, indexed_ + max_run_rows)));
    }
    for (; indexed_ < rows; indexed_ = std::min(rows, indexed_ + max_run_rows)) {
      delta_.push_back(make_run(backend, columns, indexed_, std::min(rows, indexed_ + max_run_rows)));
    }
    delta_begin_ = old_rows;
  }

 private:
  using run_pointer = std::unique_ptr<sorted_run>;
  /// Positions within a run have 32 bits.
  static constexpr std::uint64_t max_run_rows = 1ULL << 31;

  void forget_rows() {
    old_.clear();
    delta_.clear();
    indexed_ = 0;
  }

  template <class Backend>
  run_pointer make_run(Backend& backend, const column_pointers& columns, std::uint64_t begin, std::uint64_t end) {
    auto run = std::make_unique<sorted_run>(*resource_, layout_);
    run->build(backend, *resource_, layout_, columns, begin, end);
    return run;
  }

  template <class Backend>
  void fold(Backend& backend, run_pointer run) {
    old_.push_back(std::move(run));
    while (old_.size() >= 2) {
      sorted_run& elder = *old_[old_.size() - 2];
      sorted_run& younger = *old_.back();
      const bool published = layout_.positions;
      if (elder.rows() + younger.rows() > max_run_rows) break;
      if (published ? stays_apart(elder.rows(), younger.rows())
                    : elder.rows() >= calibration::merge_factor * younger.rows())
        break;
      const bool is_full = published && old_.size() == 2;  // which has the buffers that are kept
      run_pointer merged = is_full && spare_ ? std::move(spare_) : std::make_unique<sorted_run>(*resource_, layout_);
      if (!published) {  // whose buffers are used again
        elder.drop_tables();
        younger.drop_tables();
      }
      try {
        merged->merge(backend, elder, younger, is_full ? buffers_ : buffer_policy{false, 0}, !published);
      } catch (const backend::memory_exceeded&) {
        forget_rows();  // what is left of the two can't be searched
        throw;
      }
      if (is_full && buffers_.eager) spare_ = std::move(old_[old_.size() - 2]);
      old_.pop_back();
      old_.back() = std::move(merged);
    }
  }

  memory_resource* resource_;
  index_layout layout_;
  buffer_policy buffers_;
  std::vector<run_pointer> old_;    // eldest first
  std::vector<run_pointer> delta_;  // one, unless delta has more rows than a run may have, or is all there is
  run_pointer spare_;               // eager buffer management: the buffers of the last merge
  std::uint64_t indexed_ = 0;
  std::uint64_t delta_begin_ = 0;
};

}  // namespace gpulog::storage
