#include <algorithm>
#include <utility>
#include <variant>
#include <vector>

#include "storage/relation/relation.hpp"

/// How rows leave a relation: gaps that workers left, rows that were erased, rows that better ones replace.
namespace gpulog::storage {

void relation::close_gaps(row_set& set) {
  std::vector<reservation> gaps;
  std::uint64_t missing = 0;
  for (reservation& own : reserved_) {
    if (own.next != own.end) gaps.push_back(own);
    missing += own.end - own.next;
    own = {};
  }
  if (missing == 0) return;
  std::sort(gaps.begin(), gaps.end(), [](const reservation& a, const reservation& b) { return a.next < b.next; });
  std::uint64_t last = tail_.load(std::memory_order_relaxed);
  const std::uint64_t live = last - missing;
  std::size_t last_gap = gaps.size();
  for (const reservation& gap : gaps) {
    for (std::uint64_t hole = gap.next; hole < std::min(gap.end, live); ++hole) {
      while (last_gap > 0 && last == gaps[last_gap - 1].end) last = gaps[--last_gap].next;
      --last;  // the last row in use
      set.move_row(row_hash(last), last, hole);
      for (auto& column : columns_) column[hole] = column[last];
      if (best_) best_->replaced[hole] = best_->replaced[last];
    }
  }
  tail_.store(live, std::memory_order_relaxed);
}

void relation::erase(std::uint64_t row) {
  std::get<row_set>(set_).erase(row_hash(row), row, [this](std::uint64_t other) { return row_hash(other); });
  ++erased_rows_;
}

void relation::erase_appended(const std::uint8_t* marks) {
  auto& set = std::get<row_set>(set_);
  const std::uint64_t end = tail_.load(std::memory_order_relaxed);
  const auto hash_of = [this](std::uint64_t row) { return row_hash(row); };
  for (std::uint64_t row = rows_; row < end; ++row) {
    if (marks[row - rows_] != 0) set.erase(row_hash(row), row, hash_of);
  }
  std::uint64_t kept = rows_;
  for (std::uint64_t row = rows_; row < end; ++row) {
    if (marks[row - rows_] == 0) move_row(set, row, kept++);
  }
  tail_.store(kept, std::memory_order_relaxed);
}

void relation::erase_replaced() {
  best_->erased.resize(std::max(tail_.load(std::memory_order_relaxed), best_->erased.size()));
  for (std::uint64_t row = rows_; row < best_->shown; ++row) {
    const std::uint64_t replaced = std::exchange(best_->replaced[row], 0);
    if (replaced == 0) continue;
    best_->erased[replaced - 1] = 1;
    ++erased_rows_;
  }
}

void relation::compact(const std::uint8_t* marks) {
  auto& set = std::get<row_set>(set_);
  const std::uint64_t end = tail_.load(std::memory_order_relaxed);
  std::uint64_t kept = 0;
  std::uint64_t kept_old = 0;
  std::uint64_t kept_visible = 0;
  for (std::uint64_t row = 0; row < end; ++row) {
    if (row == old_rows_) kept_old = kept;
    if (row == rows_) kept_visible = kept;
    if (row >= rows_ || marks[row] == 0) move_row(set, row, kept++);
  }
  old_rows_ = old_rows_ == end ? kept : kept_old;
  rows_ = rows_ == end ? kept : kept_visible;
  tail_.store(kept, std::memory_order_relaxed);
  erased_rows_ = 0;
  for (std::size_t number = 0; number < indexes_.size(); ++number) drop_index(number);
}

}  // namespace gpulog::storage
