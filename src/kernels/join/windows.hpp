#pragma once

#include <algorithm>
#include <atomic>
#include <compare>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <utility>
#include <vector>

#include "backend/array.hpp"
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

/// What all workers of one run of a pipeline know of its scans and searches with windows, or of several runs between
/// which the relations with windows do not change. In a run no relation does: what it appends is not read.
class run_windows {
 public:
  /// @param resource has the memory that sorted rows take; where it has none, all rows are read
  run_windows(const pipeline& program, backend::memory_resource& resource) : resource_(&resource), wide_(program.wide) {
    const auto has_window = [](const segment& one) { return !one.limits.bounds.empty(); };
    if (std::none_of(program.segments.begin(), program.segments.end(), has_window)) return;
    entries_.resize(program.segments.size());
    for (std::size_t number = 0; number < program.segments.size(); ++number) {
      const segment& scan = program.segments[number];
      for (const window::bound& bound : scan.limits.bounds) {
        entries_[number].upper_halves.push_back(upper_half_of(scan, bound.value));
      }
    }
  }

  /// The rows of a scan in the order of its window's column, or nullptr: all of them are to be read, as there are few,
  /// or too few bindings have asked (n more ask now) to make up for the sorting.
  const sorted_rows* find(std::size_t number, const segment& scan, const word* column, part_rows part,
                          std::uint32_t n) {
    constexpr std::uint64_t few_rows = 64;
    constexpr std::uint64_t few_bindings = 16;
    if (entries_.empty() || scan.limits.bounds.empty()) return nullptr;
    if (part.end - part.begin < few_rows || part.end > UINT32_MAX) return nullptr;
    entry& here = entries_[number];
    if (here.asked.fetch_add(n, std::memory_order_relaxed) + n < few_bindings) return nullptr;
    return here.made_once(
        [&] { return sort_rows(scan.limits.is_signed, part, [column](std::uint64_t row) { return column[row]; }); });
  }

  /// The same for a key's rows in a run of the index that a match searches: `first` is the first of `count` rows, and
  /// value(i) the i-th one's in the window's column. Keys with many rows are sorted when enough bindings have asked.
  template <class Value>
  const sorted_rows* find_of_key(std::size_t number, const window& limits, const void* run, std::uint64_t first,
                                 std::uint64_t count, const Value& value) {
    constexpr std::uint64_t few_rows = 256;
    constexpr std::uint64_t few_bindings = 16;
    if (entries_.empty() || limits.bounds.empty() || count < few_rows || count > UINT32_MAX) return nullptr;
    rows_of_key& here = entries_[number].of(run, first);
    if (here.asked.fetch_add(1, std::memory_order_relaxed) + 1 < few_bindings) return nullptr;
    return here.made_once([&] { return sort_rows(limits.is_signed, {0, count}, value); });
  }

  /// Of a bound, by its number: the register of its value's upper half, or no_register.
  [[nodiscard]] register_number upper_half(std::size_t number, std::size_t bound) const {
    return entries_[number].upper_halves[bound];
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
    std::vector<register_number> upper_halves;                          // by bound
  };

  /// The filter that the bound comes from stands behind the scan and knows where the halves of its operands are.
  static register_number upper_half_of(const segment& scan, register_number value) {
    for (const step& one : scan.steps) {
      if (one.kind != step_kind::filter || !one.is_wide) continue;
      for (std::size_t side = 0; side < one.arguments.size(); ++side) {
        if (one.arguments[side] == value) return one.upper[side];
      }
    }
    return no_register;
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
  std::deque<entry> entries_;  // by segment; none: there is no window
};

}  // namespace gpulog::kernels
