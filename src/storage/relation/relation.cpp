#include "storage/relation/relation.hpp"

#include <algorithm>
#include <numeric>

#include "storage/symbols/wide_values.hpp"

namespace gpulog::storage {

void relation::become_equivalence() {
  drop_set();
  equivalence_ = std::make_unique<equivalence>(*resource_);
}

void relation::write_out_pairs() {
  const std::uint64_t pairs = equivalence_->pairs();
  for (auto& column : columns_) column.set_capacity(pairs);
  equivalence_->read_pairs(true, true, 0, pairs, columns_[0].data(), columns_[1].data());
}

void relation::forget_pairs() {
  for (auto& column : columns_) column.release();
}

void relation::adopt(const column_pointers& values, std::uint64_t rows) {
  if (arity_ == 0) {
    has_empty_tuple_ = rows != 0;
  } else {
    drop_set();
    for (std::uint32_t c = 0; c < arity_; ++c) {
      columns_[c].set_capacity(rows);
      std::copy_n(values[c], rows, columns_[c].data());
    }
  }
  tail_.store(rows, std::memory_order_relaxed);
  complete();
}

void relation::replace(std::vector<array<word>> columns, std::uint64_t rows) {
  for (std::size_t i = 0; i < indexes_.size(); ++i) drop_index(i);
  columns_ = std::move(columns);
  tail_.store(rows, std::memory_order_relaxed);
  complete();
  drop_set();
}

std::vector<array<word>> relation::take_rows() {
  for (std::size_t i = 0; i < indexes_.size(); ++i) drop_index(i);
  std::vector<array<word>> taken = std::move(columns_);
  columns_.clear();
  for (std::uint32_t c = 0; c < arity_; ++c) columns_.emplace_back(*resource_);
  tail_.store(0, std::memory_order_relaxed);
  complete();
  create_set();
  return taken;
}

std::uint64_t relation::choose_in_order() {
  auto& choice = std::get<choice_set>(set_);
  const std::uint64_t before = choice.chosen_rows();
  const std::uint64_t after = choice.choose(columns_, tail_.load(std::memory_order_relaxed));
  tail_.store(after, std::memory_order_relaxed);
  return after - before;
}

void relation::sort_values(const std::vector<std::uint32_t>& by, std::uint64_t begin, std::uint64_t end,
                           array<std::uint32_t>& sorted) const {
  sorted.resize(end - begin);
  std::iota(sorted.data(), sorted.data() + sorted.size(), 0U);
  const auto number = [this, begin](std::uint32_t column, std::uint32_t row) {
    return static_cast<std::int64_t>(options_.wide->value(columns_[column][begin + row]));
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

}  // namespace gpulog::storage
