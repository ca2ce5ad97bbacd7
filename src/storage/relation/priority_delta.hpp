#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "storage/relation/relation.hpp"

/// Which of the best rows of their keys a phase shows to the next one: the best of them first, so that few are shown
/// that better ones replace (as in Dijkstra's algorithm, in portions). Part of relation.hpp.
namespace gpulog::storage {

inline void relation::choose_shown(row_set& set) {
  const std::uint64_t begin = rows_;
  const std::uint64_t end = tail_.load(std::memory_order_relaxed);
  const std::uint64_t waiting = end - begin;
  best_->shown = end;
  if (best_->least_shown == 0 || waiting <= best_->least_shown) return;
  constexpr std::uint64_t samples = 256;
  constexpr std::uint64_t share = 16;
  const word* const values = columns_[best_->column].data();
  const std::uint64_t wanted = std::max(best_->least_shown, waiting / share);
  std::vector<wide_word> ranks;
  for (std::uint64_t i = 0; i < samples; ++i) ranks.push_back(best_->order.rank(values[begin + waiting * i / samples]));
  const auto bound = ranks.begin() + static_cast<std::ptrdiff_t>(std::min(samples - 1, samples * wanted / waiting));
  std::nth_element(ranks.begin(), bound, ranks.end());
  const wide_word worst = *bound;
  std::uint64_t front = begin;
  std::uint64_t back = end;
  while (true) {
    while (front < back && best_->order.rank(values[front]) <= worst) ++front;
    while (front < back && best_->order.rank(values[back - 1]) > worst) --back;
    if (front >= back) break;
    swap_rows(set, front++, --back);
  }
  best_->shown = front;
}

inline void relation::swap_rows(row_set& set, std::uint64_t one, std::uint64_t other) {
  const std::uint64_t hash = row_hash(one);
  set.move_row(hash, one, row_set::nowhere);
  set.move_row(row_hash(other), other, one);
  set.move_row(hash, row_set::nowhere, other);
  for (auto& column : columns_) std::swap(column[one], column[other]);
  std::swap(best_->replaced[one], best_->replaced[other]);
}

inline void relation::compact_best() {
  auto& set = std::get<row_set>(set_);
  const std::uint64_t end = tail_.load(std::memory_order_relaxed);
  // A row that a waiting one is going to replace is no longer in the set.
  constexpr std::uint8_t is_leaving = 2;
  for (std::uint64_t row = rows_; row < end; ++row) {
    if (best_->replaced[row] != 0) best_->erased[best_->replaced[row] - 1] = is_leaving;
  }
  array<std::uint64_t> places(*resource_, rows_);
  std::uint64_t kept = 0;
  std::uint64_t kept_visible = 0;
  std::uint64_t kept_shown = 0;
  for (std::uint64_t row = 0; row < end; ++row) {
    if (row == rows_) kept_visible = kept;
    if (row == best_->shown) kept_shown = kept;
    if (row < rows_) {
      places[row] = kept;
      if (best_->erased[row] == 1) continue;
      if (best_->erased[row] == is_leaving) {
        for (auto& column : columns_) column[kept] = column[row];
        best_->replaced[kept++] = 0;
        continue;
      }
    }
    const std::uint64_t replaced = best_->replaced[row];
    best_->replaced[kept] = replaced == 0 ? 0 : places[replaced - 1] + 1;
    move_row(set, row, kept++);
  }
  old_rows_ = old_rows_ < rows_ ? places[old_rows_] : old_rows_ == end ? kept : kept_visible;
  best_->shown = best_->shown == end ? kept : kept_shown;  // it matters between settle() and advance() only
  rows_ = rows_ == end ? kept : kept_visible;
  tail_.store(kept, std::memory_order_relaxed);
  erased_rows_ = 0;
  std::fill_n(best_->erased.data(), best_->erased.size(), std::uint8_t{0});
  for (std::size_t number = 0; number < indexes_.size(); ++number) drop_index(number);
}

}  // namespace gpulog::storage
