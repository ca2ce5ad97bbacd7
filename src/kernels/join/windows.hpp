#pragma once

#include <algorithm>
#include <atomic>
#include <compare>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <utility>

#include "backend/array.hpp"
#include "kernels/calibration.hpp"
#include "kernels/join/pipeline.hpp"

namespace gpulog::kernels {

/// Rows of a part of a relation, sorted by a column: the rows between two values are adjacent.
struct sorted_rows {
  backend::array<wide_word> keys;      ///< ascending, as returned by key_of
  backend::array<std::uint32_t> rows;  ///< row numbers in the relation, or offsets from the key's first row in a run

  /// Maps a value to a key with the same order as an unsigned word.
  static wide_word key_of(wide_word value, bool is_signed, word_size words) {
    const wide_word sign = wide_word{1} << (words == word_size::bits64 ? 63 : 31);
    return is_signed ? value ^ sign : value;
  }
};

/// An inclusive range of keys.
struct key_range {
  wide_word first = 0;
  wide_word last = 0;
};

/// The column values that satisfy all bounds of a window: none, one range, or several, because sums wrap around. For k
/// - l < 3 these are the values of l from k - 2 on, where the smallest value follows the largest.
class window_ranges {
 public:
  explicit window_ranges(word_size words) : words_(words) {
    largest_ = words == word_size::bits64 ? ~wide_word{0} : UINT32_MAX;
    ranges_[0] = {0, largest_};
  }

  /// @param value the compared value
  /// @param sum the sum of all summands except the column
  void keep(const window::bound& bound, bool is_signed, wide_word value, wide_word sum) {
    const wide_word compared = sorted_rows::key_of(value, is_signed, words_);
    if (bound.is_strict && compared == (bound.is_upper ? 0 : largest_)) {
      count_ = 0;
      return;
    }
    const wide_word strict = bound.is_strict ? 1 : 0;
    key_range kept{bound.is_upper ? 0 : compared + strict, bound.is_upper ? compared - strict : largest_};
    if (!bound.is_of_sum()) return keep_between(kept, kept);
    // The column values for the two ends. The mapping preserves adjacency of keys, including the wrap-around.
    const auto column_of = [&](wide_word key) {
      const wide_word total = sorted_rows::key_of(key, is_signed, words_);  // key_of is its own inverse
      const wide_word column = bound.is_column_subtracted ? sum - total : total - sum;
      return sorted_rows::key_of(column & largest_, is_signed, words_);
    };
    kept = {column_of(kept.first), column_of(kept.last)};
    if (bound.is_column_subtracted) std::swap(kept.first, kept.last);
    if (kept.first <= kept.last) return keep_between(kept, kept);
    keep_between({0, kept.last}, {kept.first, largest_});
  }

  [[nodiscard]] const key_range* begin() const { return ranges_; }
  [[nodiscard]] const key_range* end() const { return ranges_ + count_; }

 private:
  static constexpr std::uint32_t most_ranges = 8;

  /// Intersects the ranges with the union of two ranges, which are either equal or disjoint and ascending. If the
  /// result has too many pieces, keeps too many values, which the filters drop later.
  void keep_between(const key_range& low, const key_range& high) {
    const bool is_one = low.first == high.first;
    if (!is_one && 2 * count_ > most_ranges) return;
    key_range kept[most_ranges];
    std::uint32_t count = 0;
    for (std::uint32_t number = 0; number < count_; ++number) {
      for (const key_range* const with : {&low, &high}) {
        const key_range both{std::max(ranges_[number].first, with->first), std::min(ranges_[number].last, with->last)};
        if (both.first <= both.last) kept[count++] = both;
        if (is_one) break;
      }
    }
    std::copy(kept, kept + count, ranges_);
    count_ = count;
  }

  word_size words_;
  wide_word largest_;
  key_range ranges_[most_ranges];
  std::uint32_t count_ = 1;
};

/// Sort orders for scans and searches with windows, shared by all workers of a run, or by several runs between which
/// the windowed relations do not change. During a run relations are stable: a run does not read the rows that it
/// appends.
class run_windows {
 public:
  /// @param resource allocates sorted rows; if memory is short, all rows are read
  run_windows(const pipeline& program, backend::memory_resource& resource) : resource_(&resource), wide_(program.wide) {
    const auto has_window = [](const segment& one) { return !one.limits.bounds.empty(); };
    if (std::any_of(program.segments.begin(), program.segments.end(), has_window)) segments_ = program.segments.size();
  }

  /// Returns the rows of a scan sorted by the window's column, or nullptr to read all rows: if the scan is short, or if
  /// too few bindings (n more now) have read it to pay for the sort.
  const sorted_rows* find(std::size_t number, const segment& scan, const word* column, part_rows part,
                          std::uint32_t n) {
    if (segments_ == 0 || scan.limits.bounds.empty()) return nullptr;
    if (part.end - part.begin < calibration::least_sorted_scan_rows || part.end > UINT32_MAX) return nullptr;
    entry& here = entry_of(number);
    if (here.asked.fetch_add(n, std::memory_order_relaxed) + n < calibration::bindings_before_sorting) return nullptr;
    return here.made_once(
        [&] { return sort_rows(scan.limits.is_signed, part, [column](std::uint64_t row) { return column[row]; }); });
  }

  /// Returns the rows of a key in an index run, sorted by the window's column, or nullptr. Only keys with many rows are
  /// sorted, after enough bindings have read them.
  /// @param first the first of `count` rows
  /// @param value value(i) returns the window column of row i
  template <class Value>
  const sorted_rows* find_of_key(std::size_t number, const window& limits, const void* run, std::uint64_t first,
                                 std::uint64_t count, const Value& value) {
    if (segments_ == 0 || limits.bounds.empty() || count < calibration::least_sorted_key_rows || count > UINT32_MAX)
      return nullptr;
    rows_of_key& here = entry_of(number).of(run, first);
    if (here.asked.fetch_add(1, std::memory_order_relaxed) + 1 < calibration::bindings_before_sorting) return nullptr;
    return here.made_once([&] { return sort_rows(limits.is_signed, {0, count}, value); });
  }

  [[nodiscard]] wide_word key_of(wide_word value, bool is_signed) const {
    return sorted_rows::key_of(value, is_signed, wide_ == nullptr ? word_size::bits32 : word_size::bits64);
  }

 private:
  struct rows_of_key {
    std::atomic<std::uint64_t> asked = 0;
    std::once_flag made;
    bool is_sorted = false;
    sorted_rows sorted;

    /// Returns nullptr if memory is short.
    template <class Make>
    const sorted_rows* made_once(const Make& make) {
      std::call_once(made, [&] {
        try {
          sorted = make();
          is_sorted = true;
        } catch (const backend::memory_exceeded&) {
          sorted = {};
        }
      });
      return is_sorted ? &sorted : nullptr;
    }
  };
  struct entry : rows_of_key {
    rows_of_key& of(const void* run, std::uint64_t first) {
      const std::pair key(run, first);
      {
        const std::shared_lock<std::shared_mutex> reading(mutex);
        if (const auto known = keys.find(key); known != keys.end()) return known->second;
      }
      const std::unique_lock<std::shared_mutex> writing(mutex);
      return keys[key];
    }
    std::shared_mutex mutex;
    std::map<std::pair<const void*, std::uint64_t>, rows_of_key> keys;  // for a match: by run and first row
  };

  /// Most runs have few rows and need none.
  [[nodiscard]] entry& entry_of(std::size_t number) {
    std::call_once(has_entries_, [this] { entries_ = std::make_unique<entry[]>(segments_); });
    return entries_[number];
  }

  /// @throws memory_exceeded
  template <class Value>
  [[nodiscard]] sorted_rows sort_rows(bool is_signed, part_rows part, const Value& value) const {
    using backend::fresh_memory;
    const std::uint64_t count = part.end - part.begin;
    sorted_rows made;
    made.keys = backend::array<wide_word>(*resource_, count, fresh_memory::anything);
    made.rows = backend::array<std::uint32_t>(*resource_, count, fresh_memory::anything);
    if (wide_ != nullptr) {
      backend::array<keyed_row> order(*resource_, count, fresh_memory::anything);
      for (std::uint64_t i = 0; i < count; ++i) {
        const std::uint64_t row = part.begin + i;
        order[i] = {key_of(wide_->value(value(row)), is_signed), static_cast<std::uint32_t>(row)};
      }
      std::sort(order.data(), order.data() + count);
      for (std::uint64_t i = 0; i < count; ++i) {
        made.keys[i] = order[i].key;
        made.rows[i] = order[i].row;
      }
      return made;
    }
    backend::array<std::uint64_t> order(*resource_, count, fresh_memory::anything);  // key, then row
    for (std::uint64_t i = 0; i < count; ++i) {
      const std::uint64_t row = part.begin + i;
      order[i] = key_of(value(row), is_signed) << 32 | row;
    }
    std::sort(order.data(), order.data() + count);
    for (std::uint64_t i = 0; i < count; ++i) {
      made.keys[i] = order[i] >> 32;
      made.rows[i] = static_cast<std::uint32_t>(order[i]);
    }
    return made;
  }

  struct keyed_row {
    wide_word key;
    std::uint32_t row;
    friend auto operator<=>(const keyed_row&, const keyed_row&) = default;
  };

  backend::memory_resource* resource_;
  const storage::wide_values* wide_;
  std::size_t segments_ = 0;  // 0: there is no window
  std::once_flag has_entries_;
  std::unique_ptr<entry[]> entries_;  // by segment
};

}  // namespace gpulog::kernels
