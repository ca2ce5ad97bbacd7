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

/// Rows of a part of a relation in the order of one column: those between two values lie next to each other.
struct sorted_rows {
  backend::array<wide_word> keys;  ///< ascending, as key_of gives them
  backend::array<std::uint32_t>
      rows;  ///< of the relation; of one key's rows in a run of an index, from the first one on

  /// Values in an order that is that of words without signs.
  static wide_word key_of(wide_word value, bool is_signed, word_size words) {
    const wide_word sign = wide_word{1} << (words == word_size::bits64 ? 63 : 31);
    return is_signed ? value ^ sign : value;
  }
};

/// Values from `first` to `last`, both included, by their keys in sorted_rows.
struct key_range {
  wide_word first = 0;
  wide_word last = 0;
};

/// The values of a column for which all bounds of a window hold: none, one range, or several, as sums wrap around. For
/// k - l < 3 these are the values of l from k - 2 on, behind the largest one the smallest ones follow.
class window_ranges {
 public:
  explicit window_ranges(word_size words) : words_(words) {
    largest_ = words == word_size::bits64 ? ~wide_word{0} : UINT32_MAX;
    ranges_[0] = {0, largest_};
  }

  /// @param value that is compared @param sum of what stands beside the column
  void keep(const window::bound& bound, bool is_signed, wide_word value, wide_word sum) {
    const wide_word compared = sorted_rows::key_of(value, is_signed, words_);
    if (bound.is_strict && compared == (bound.is_upper ? 0 : largest_)) {
      count_ = 0;
      return;
    }
    const wide_word strict = bound.is_strict ? 1 : 0;
    key_range kept{bound.is_upper ? 0 : compared + strict, bound.is_upper ? compared - strict : largest_};
    if (!bound.is_of_sum()) return keep_between(kept, kept);
    // What the column has to be for the ends; in the order of keys, each value follows the one before also there.
    const auto column_of = [&](wide_word key) {
      const wide_word total = sorted_rows::key_of(key, is_signed, words_);  // that is its own reverse
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

  /// Keeps what is within one of two ranges, which are the same or lie apart, the smaller values first. More pieces
  /// than there is room for: some values stay that could go, as the filters look again.
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

/// What all workers of one run of a pipeline know of its scans and searches with windows, or of several runs between
/// which the relations with windows do not change. In a run no relation does: what it appends is not read.
class run_windows {
 public:
  /// @param resource has the memory that sorted rows take; where it has none, all rows are read
  run_windows(const pipeline& program, backend::memory_resource& resource) : resource_(&resource), wide_(program.wide) {
    const auto has_window = [](const segment& one) { return !one.limits.bounds.empty(); };
    if (std::any_of(program.segments.begin(), program.segments.end(), has_window)) segments_ = program.segments.size();
  }

  /// The rows of a scan in the order of its window's column, or nullptr: all of them are to be read, as there are few,
  /// or too few bindings have asked (n more ask now) to make up for the sorting.
  const sorted_rows* find(std::size_t number, const segment& scan, const word* column, part_rows part,
                          std::uint32_t n) {
    if (segments_ == 0 || scan.limits.bounds.empty()) return nullptr;
    if (part.end - part.begin < calibration::least_sorted_scan_rows || part.end > UINT32_MAX) return nullptr;
    entry& here = entry_of(number);
    if (here.asked.fetch_add(n, std::memory_order_relaxed) + n < calibration::bindings_before_sorting) return nullptr;
    return here.made_once(
        [&] { return sort_rows(scan.limits.is_signed, part, [column](std::uint64_t row) { return column[row]; }); });
  }

  /// The same for a key's rows in a run of the index that a match searches: `first` is the first of `count` rows, and
  /// value(i) the i-th one's in the window's column. Keys with many rows are sorted when enough bindings have asked.
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

    /// nullptr: there was no memory for it.
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
    std::map<std::pair<const void*, std::uint64_t>, rows_of_key> keys;  // of a match: by run and first row
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
