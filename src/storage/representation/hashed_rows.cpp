#include "storage/representation/hashed_rows.hpp"

namespace gpulog::storage {

void hashed_rows::adopt(const column_pointers& values, std::uint64_t n, bool lasts) {
  rows_->adopt(values, n, lasts);
  is_set_late_.store(n > 0, std::memory_order_relaxed);
}

void hashed_rows::fill_set(std::uint64_t room, const backend::piece_runner& helpers) const {
  table_.make_room(rows_->end() + room, helpers);
  table_.fill(helpers);
  is_set_late_.store(false, std::memory_order_release);
}

void hashed_rows::require_set() const {
  if (!is_set_late_.load(std::memory_order_acquire)) return;
  const std::lock_guard<std::mutex> alone(filling_);
  if (is_set_late_.load(std::memory_order_relaxed)) fill_set(0, {});
}

void hashed_rows::erase_appended(const std::uint8_t* marks) {
  const std::uint64_t begin = rows_->rows;
  const std::uint64_t end = rows_->end();
  for (std::uint64_t row = begin; row < end; ++row) {
    if (marks[row - begin] != 0) table_.erase(row);
  }
  std::uint64_t kept = begin;
  for (std::uint64_t row = begin; row < end; ++row) {
    if (marks[row - begin] == 0) table_.move(row, kept++);
  }
  rows_->set_end(kept);
}

void hashed_rows::compact(const std::uint8_t* marks) {
  require_set();
  rows_->own();
  const std::uint64_t rows = rows_->rows;
  const std::uint64_t end = rows_->end();
  std::uint64_t kept = 0;
  std::uint64_t kept_old = 0;
  std::uint64_t kept_visible = 0;
  for (std::uint64_t row = 0; row < end; ++row) {
    if (row == rows_->old_rows) kept_old = kept;
    if (row == rows) kept_visible = kept;
    if (row >= rows || marks[row] == 0) table_.move(row, kept++);
  }
  rows_->show(rows_->old_rows == end ? kept : kept_old, rows == end ? kept : kept_visible);
  rows_->set_end(kept);
  rows_->erased_rows = 0;
}

}  // namespace gpulog::storage
