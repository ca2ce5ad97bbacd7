#include "storage/representation/best_rows.hpp"

#include <algorithm>
#include <utility>

#include "storage/calibration.hpp"

namespace gpulog::storage {

namespace {

/// Returns all columns that hold no bounds.
[[nodiscard]] std::vector<std::uint32_t> key_beside(const std::vector<bounded_column>& bounds, std::uint32_t arity) {
  std::vector<std::uint32_t> key;
  for (std::uint32_t c = 0; c < arity; ++c) {
    if (std::none_of(bounds.begin(), bounds.end(), [c](const auto& one) { return one.column == c; })) key.push_back(c);
  }
  return key;
}

}  // namespace

best_rows::best_rows(column_store& rows, std::uint32_t column, const value_order& order)
    : row_representation(rows),
      column_(column),
      order_(order),
      table_(rows, key_beside({{column, {}}}, rows.arity())),
      replaced_(*rows.resource),
      erased_(*rows.resource) {
  order_.wide = rows.options.wide;
}

best_rows::best_rows(column_store& rows, std::vector<bounded_column> bounds)
    : row_representation(rows),
      bounds_(std::move(bounds)),
      table_(rows, key_beside(bounds_, rows.arity())),
      replaced_(*rows.resource),
      erased_(*rows.resource) {}

/// Selects the waiting rows shown next and moves the best of them to the front, so that few shown rows are replaced
/// later (as in Dijkstra's algorithm, in portions).
void best_rows::choose_shown() {
  const std::uint64_t begin = rows_->rows;
  const std::uint64_t end = rows_->end();
  const std::uint64_t waiting = end - begin;
  shown_ = end;
  if (least_shown_ == 0 || waiting <= least_shown_) return;
  constexpr std::uint64_t samples = calibration::sampled_priorities;
  const word* const values = rows_->columns[column_].data();
  const std::uint64_t wanted = std::max(least_shown_, waiting / calibration::priority_share);
  std::vector<wide_word> ranks;
  for (std::uint64_t i = 0; i < samples; ++i) ranks.push_back(order_.rank(values[begin + waiting * i / samples]));
  const auto bound = ranks.begin() + static_cast<std::ptrdiff_t>(std::min(samples - 1, samples * wanted / waiting));
  std::nth_element(ranks.begin(), bound, ranks.end());
  const wide_word worst = *bound;
  std::uint64_t front = begin;
  std::uint64_t back = end;
  while (true) {
    while (front < back && order_.rank(values[front]) <= worst) ++front;
    while (front < back && order_.rank(values[back - 1]) > worst) --back;
    if (front >= back) break;
    swap(front++, --back);
  }
  shown_ = front;
}

void best_rows::swap(std::uint64_t one, std::uint64_t other) {
  row_set& set = table_.set();
  const std::uint64_t hash = table_.hash(one);
  set.move_row(hash, one, set.nowhere());
  set.move_row(table_.hash(other), other, one);
  set.move_row(hash, set.nowhere(), other);
  for (auto& column : rows_->columns) std::swap(column[one], column[other]);
  std::swap(replaced_[one], replaced_[other]);
}

/// Erases the rows that the rows shown next replace.
void best_rows::erase_replaced() {
  erased_.resize(std::max(rows_->end(), erased_.size()));
  for (std::uint64_t row = rows_->rows; row < shown_; ++row) {
    const std::uint64_t replaced = std::exchange(replaced_[row], 0);
    if (replaced == 0) continue;
    erased_[replaced - 1] = 1;
    ++rows_->erased_rows;
  }
}

void best_rows::compact() {
  const std::uint64_t rows = rows_->rows;
  const std::uint64_t end = rows_->end();
  // A row that a waiting row will replace is no longer in the set.
  constexpr std::uint8_t is_leaving = 2;
  for (std::uint64_t row = rows; row < end; ++row) {
    if (replaced_[row] != 0) erased_[replaced_[row] - 1] = is_leaving;
  }
  array<std::uint64_t> places(*rows_->resource, rows);
  std::uint64_t kept = 0;
  std::uint64_t kept_visible = 0;
  std::uint64_t kept_shown = 0;
  for (std::uint64_t row = 0; row < end; ++row) {
    if (row == rows) kept_visible = kept;
    if (row == shown_) kept_shown = kept;
    if (row < rows) {
      places[row] = kept;
      if (erased_[row] == 1) continue;
      if (erased_[row] == is_leaving) {
        rows_->copy(row, kept);
        replaced_[kept++] = 0;
        continue;
      }
    }
    const std::uint64_t replaced = replaced_[row];
    replaced_[kept] = replaced == 0 ? 0 : places[replaced - 1] + 1;
    table_.move(row, kept++);
  }
  const std::uint64_t old_rows = rows_->old_rows;
  const std::uint64_t kept_rows = rows == end ? kept : kept_visible;
  rows_->show(old_rows < rows ? places[old_rows] : old_rows == end ? kept : kept_visible, kept_rows);
  shown_ = shown_ == end ? kept : kept_shown;  // only relevant between settle() and advance()
  rows_->set_end(kept);
  rows_->erased_rows = 0;
  std::fill_n(erased_.data(), erased_.size(), std::uint8_t{0});
}

}  // namespace gpulog::storage
