#include "storage/representation/choice_rows.hpp"

#include <numeric>

#include "storage/symbols/wide_values.hpp"

namespace gpulog::storage {

choice_rows::choice_rows(column_store& rows, const std::vector<domain>& domains) : row_representation(rows) {
  for (const domain& columns : domains) tables_.emplace_back(rows, columns);
}

std::uint64_t choice_rows::bytes() const {
  std::uint64_t sum = 0;
  for (const row_table& table : tables_) sum += table.bytes();
  return sum;
}

std::uint32_t choice_rows::select_new(const word* const* values, std::uint32_t n, std::uint64_t* hashes,
                                      std::uint64_t* selected) const {
  std::iota(selected, selected + n, std::uint64_t{0});
  for (const row_table& table : tables_) {
    const auto tuple = [&](std::uint32_t k) { return [&, k](std::uint32_t c) { return values[c][selected[k]]; }; };
    for (std::uint32_t k = 0; k < n; ++k) {
      hashes[k] = table.hash_of(tuple(k));
      table.set().prefetch(hashes[k]);
    }
    std::uint32_t kept = 0;
    for (std::uint32_t k = 0; k < n; ++k) {
      const bool taken =
          table.set().contains(hashes[k], [&](std::uint64_t row) { return table.has_key(row, tuple(k)); });
      selected[kept] = selected[k];
      kept += taken ? 0 : 1;
    }
    n = kept;
  }
  return n;
}

std::uint64_t choice_rows::choose_in_order() {
  std::vector<std::uint64_t> hashes(tables_.size());
  const std::uint64_t before = chosen_rows_;
  const std::uint64_t end = rows_->end();
  for (std::uint64_t row = before; row < end; ++row) {
    const auto value = [&](std::uint32_t c) { return rows_->columns[c][row]; };
    bool taken = false;
    for (std::size_t d = 0; d < tables_.size() && !taken; ++d) {
      const row_table& table = tables_[d];
      hashes[d] = table.hash_of(value);
      taken = table.set().contains(hashes[d], [&](std::uint64_t other) { return table.has_key(other, value); });
    }
    if (taken) continue;
    for (std::size_t d = 0; d < tables_.size(); ++d) {
      tables_[d].make_room(1);
      row_set& set = tables_[d].set();
      set.insert<exclusive_access>(hashes[d], chosen_rows_, [](std::uint64_t) { return false; });
      set.add_count<exclusive_access>(1);
    }
    if (chosen_rows_ != row) rows_->copy(row, chosen_rows_);
    ++chosen_rows_;
  }
  rows_->set_end(chosen_rows_);
  return chosen_rows_ - before;
}

void choice_rows::sort_values(const domain& by, std::uint64_t begin, std::uint64_t end,
                              array<std::uint32_t>& sorted) const {
  sorted.resize(end - begin);
  std::iota(sorted.data(), sorted.data() + sorted.size(), 0U);
  const auto number = [this, begin](std::uint32_t column, std::uint32_t row) {
    return static_cast<std::int64_t>(rows_->options.wide->value(rows_->columns[column][begin + row]));
  };
  std::sort(sorted.data(), sorted.data() + sorted.size(), [&](std::uint32_t a, std::uint32_t b) {
    for (const std::uint32_t column : by) {
      const std::int64_t first = number(column, a);
      const std::int64_t second = number(column, b);
      if (first != second) return first < second;
    }
    return a < b;
  });
}

void choice_rows::drop_sorted_rivals() {
  const std::uint64_t begin = chosen_rows_;
  const std::uint64_t end = rows_->end();
  std::uint64_t kept = begin + 1;
  for (std::uint64_t row = begin + 1; row < end; ++row) {
    const auto value = [&](std::uint32_t c) { return rows_->columns[c][row]; };
    if (!tables_.front().has_key(kept - 1, value)) rows_->copy(row, kept++);
  }
  rows_->set_end(kept);
  // If less than half of the room is free, the room grows, so that sorting is not repeated for a small gain.
  if (kept - begin > (end - begin) / 2) rows_->reserve(rows_->next_capacity(rows_->capacity() + 1));
}

}  // namespace gpulog::storage
