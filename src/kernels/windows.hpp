#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <numeric>
#include <vector>

#include "kernels/pipeline.hpp"

namespace gpulog::kernels {

/// Rows of a part of a relation in the order of one column: those between two values lie next to each other.
struct sorted_rows {
  std::vector<word> keys;           ///< ascending, as key_of gives them
  std::vector<std::uint32_t> rows;  ///< of the relation

  /// Values in an order that is that of words.
  static word key_of(word value, bool is_signed) {
    constexpr word sign = 0x80000000;
    return is_signed ? value ^ sign : value;
  }
};

/// What all workers of one run of a pipeline know of its scans with windows. Relations do not change in a run: what it
/// appends is not read.
class run_windows {
 public:
  explicit run_windows(const pipeline& program) {
    const auto has_window = [](const segment& one) { return !one.limits.bounds.empty(); };
    if (std::any_of(program.segments.begin(), program.segments.end(), has_window)) {
      entries_.resize(program.segments.size());
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
    std::call_once(here.made, [&] {
      const std::size_t count = part.end - part.begin;
      std::vector<std::uint64_t> order(count);  // key, then row
      for (std::size_t i = 0; i < count; ++i) {
        const std::uint64_t row = part.begin + i;
        order[i] = std::uint64_t{sorted_rows::key_of(column[row], scan.limits.is_signed)} << 32 | row;
      }
      std::sort(order.begin(), order.end());
      here.sorted.keys.resize(count);
      here.sorted.rows.resize(count);
      for (std::size_t i = 0; i < count; ++i) {
        here.sorted.keys[i] = static_cast<word>(order[i] >> 32);
        here.sorted.rows[i] = static_cast<std::uint32_t>(order[i]);
      }
    });
    return &here.sorted;
  }

 private:
  struct entry {
    std::atomic<std::uint64_t> asked = 0;
    std::once_flag made;
    sorted_rows sorted;
  };
  std::deque<entry> entries_;  // by segment; none: there is no window
};

}  // namespace gpulog::kernels
