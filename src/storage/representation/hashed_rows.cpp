#include "storage/representation/hashed_rows.hpp"

namespace gpulog::storage {

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
