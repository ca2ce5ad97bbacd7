#include "engine/rows/column_statistics.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

#include "exec/calibration.hpp"
#include "storage/sets/hash.hpp"
#include "support/long_vector.hpp"

namespace gpulog::detail {
namespace {

std::uint64_t rows_in(const std::vector<value_range>& columns) {
  return std::accumulate(columns.begin(), columns.end(), std::uint64_t{0},
                         [](std::uint64_t sum, const value_range& part) { return sum + part.rows; });
}

}  // namespace

sampled_values::sampled_values(const std::vector<value_range>& columns)
    : share_(std::bit_ceil(std::max<std::uint64_t>(1, rows_in(columns) / exec::calibration::compared_values))),
      counts_(std::min(rows_in(columns), exec::calibration::compared_values) / 2) {
  for (const value_range& part : columns) {
    for (std::uint64_t row = 0; row < part.rows; ++row) {
      if (is_in(part.values[row], share_)) counts_.add(part.values[row]);
    }
  }
}

bool sampled_values::is_in(word value, std::uint64_t share) { return (storage::mix(value + 1ULL) & (share - 1)) == 0; }

plan::shared_values shared_between(const sampled_values& columns, const sampled_values& others) {
  const std::uint64_t share = std::max(columns.share_, others.share_);
  std::uint64_t values = 0;
  std::uint64_t shared = 0;
  std::uint64_t all_rows = 0;
  std::uint64_t shared_rows = 0;
  columns.counts_.for_each([&](word value, std::uint64_t count) {
    if (!sampled_values::is_in(value, share)) return;
    ++values;
    all_rows += count;
    if (others.counts_.count(value) == 0) return;
    ++shared;
    shared_rows += count;
  });
  plan::shared_values found;
  found.values = static_cast<double>(values * share);
  found.shared = static_cast<double>(shared * share);
  if (all_rows != 0) found.share_of_rows = static_cast<double>(shared_rows) / static_cast<double>(all_rows);
  return found;
}

namespace {

/// Linear counting: estimates the number of distinct values from the share of empty slots in a bitmap.
class distinct_counter {
 public:
  /// @param rows rows of the whole column
  explicit distinct_counter(std::uint64_t rows)
      : rows_(rows),
        slots_(std::clamp(std::bit_ceil(std::min(rows, exec::calibration::counted_fact_rows) *
                                        exec::calibration::counting_slots_of_row),
                          exec::calibration::least_counting_slots, exec::calibration::most_counting_slots)),
        bits_(slots_ / 64) {}

  /// Adds the rows [begin, end) of the column.
  void add(const std::vector<value_range>& column, std::uint64_t begin, std::uint64_t end) {
    std::uint64_t before = 0;
    for (const value_range& part : column) {
      const std::uint64_t last = std::clamp(end, before, before + part.rows);
      for (std::uint64_t row = std::clamp(begin, before, before + part.rows); row < last; ++row) {
        const std::uint64_t slot = storage::scale(storage::mix(part.values[row - before] + 1ULL), slots_);
        bits_[slot / 64] |= 1ULL << (slot % 64);
      }
      before += part.rows;
    }
    seen_ += end - begin;
  }
  /// Adds part `part` of `parts` of another counter's bitmap.
  void add_bits(const distinct_counter& other, std::uint64_t part, std::uint64_t parts) {
    for (std::uint64_t w = bits_.size() * part / parts; w < bits_.size() * (part + 1) / parts; ++w)
      bits_[w] |= other.bits_[w];
  }
  void add_seen(const distinct_counter& other) { seen_ += other.seen_; }
  [[nodiscard]] std::uint64_t estimate() const;

 private:
  std::uint64_t rows_;
  std::uint64_t seen_ = 0;
  std::uint64_t slots_;
  long_vector<std::uint64_t> bits_;
};

std::uint64_t distinct_counter::estimate() const {
  if (seen_ == 0) return 1;
  std::uint64_t taken = 0;
  for (const std::uint64_t word_of_bits : bits_) taken += static_cast<std::uint64_t>(std::popcount(word_of_bits));
  const auto slots = static_cast<double>(slots_);
  const double free_slots = std::max(1.0, slots - static_cast<double>(taken));
  const double counted = std::min(slots * std::log(slots / free_slots), static_cast<double>(seen_));
  // If most of the counted rows had a new value, so will the remaining rows.
  const bool keeps_growing = counted > static_cast<double>(seen_) / 2;
  const double all = keeps_growing ? counted * static_cast<double>(rows_) / static_cast<double>(seen_) : counted;
  return std::max<std::uint64_t>(1, static_cast<std::uint64_t>(std::llround(all)));
}

}  // namespace

std::vector<std::uint64_t> count_distinct(const std::vector<std::vector<value_range>>& columns, std::uint64_t rows,
                                          io::task_runner& run) {
  std::vector<std::uint64_t> counts;
  for (const std::vector<value_range>& column : columns) {
    const std::uint64_t counted = std::min(rows_in(column), exec::calibration::counted_fact_rows);
    // Each thread has a separate bitmap to avoid contention for cache lines.
    const auto pieces = static_cast<std::size_t>(
        std::clamp<std::uint64_t>(counted / exec::calibration::counted_rows_of_thread, 1, run.threads()));
    std::vector<std::optional<distinct_counter>> counters(pieces);
    run(pieces, [&](std::size_t piece) {
      counters[piece].emplace(rows).add(column, counted * piece / pieces, counted * (piece + 1) / pieces);
    });
    distinct_counter& all = *counters.front();
    if (pieces > 1) {
      run(pieces, [&](std::size_t part) {
        for (std::size_t piece = 1; piece < pieces; ++piece) all.add_bits(*counters[piece], part, pieces);
      });
    }
    for (std::size_t piece = 1; piece < pieces; ++piece) all.add_seen(*counters[piece]);
    counts.push_back(all.estimate());
  }
  return counts;
}

}  // namespace gpulog::detail
