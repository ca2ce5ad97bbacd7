#include "storage/relation/relation.hpp"

namespace gpulog::storage {

void relation::represent_rows() {
  if (arity() == 0) {
    kept_by_.emplace<nullary_rows>(rows_);
  } else if (rows_.options.mode == storage_mode::hisa) {
    kept_by_.emplace<hisa_rows>(rows_);
  } else if (arity() * sizeof(word) <= sizeof(std::uint64_t)) {
    kept_by_.emplace<packed_rows>(rows_);
  } else {
    kept_by_.emplace<hashed_rows>(rows_, false);
  }
}

std::uint64_t relation::bytes() const {
  std::uint64_t sum = rows_.bytes() + std::visit([](const auto& kind) { return kind.bytes(); }, kept_by_);
  for (const auto& index : indexes_) sum += index->bytes();
  return sum;
}

void relation::drop_set() {
  if (!abilities().has_columns) return;
  kept_by_.emplace<distinct_rows>(rows_);
  rows_.reserve(rows_.rows);
}

void relation::adopt(const column_pointers& values, std::uint64_t rows, bool lasts) {
  drop_set();
  rows_.adopt(values, rows, lasts);
  complete();
}

void relation::replace(std::vector<array<word>> columns, std::uint64_t rows) {
  drop_indexes();
  rows_.columns = std::move(columns);
  rows_.set_end(rows);
  complete();
  drop_set();
}

void relation::replace(std::unique_ptr<host_row_matrix> matrix) {
  const std::uint64_t count = matrix->rows();
  drop_indexes();
  for (auto& column : rows_.columns) column.release();
  kept_by_.emplace<factorized_rows>(rows_, std::move(matrix));
  rows_.set_end(count);
  complete();
}

std::vector<array<word>> relation::take_rows() {
  drop_indexes();
  std::vector<array<word>> taken = std::move(rows_.columns);
  rows_.columns.clear();
  for (std::size_t c = 0; c < taken.size(); ++c) rows_.columns.emplace_back(rows_.resource->for_columns());
  rows_.set_end(0);
  complete();
  represent_rows();
  return taken;
}

}  // namespace gpulog::storage
