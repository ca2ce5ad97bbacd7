#include "storage/relation/device_relation.hpp"

#include <algorithm>
#include <utility>

#include "backend/gpu/for_each.hpp"
#include "storage/calibration.hpp"
#include "storage/representation/kept_rows.cuh"

namespace gpulog::storage::gpu {

namespace {

struct put_counter {
  std::uint64_t rows;
  append_counter* counter;
  __device__ void operator()(std::uint64_t) const { *counter = {rows, rows}; }
};

}  // namespace

device_relation::device_relation(const backend::gpu::device_context& context, memory_resource& resource,
                                 std::uint32_t arity, set_choice sets, small_run_builder* small)
    : device_columns(context, resource, arity),
      small_(small),
      kept_by_(std::in_place_type<device_set>, context, resource, sets),
      counter_(resource, 1) {}

std::uint64_t device_relation::bytes() const {
  std::uint64_t sum = column_bytes() + std::visit([](const auto& kind) { return kind.bytes(); }, kept_by_);
  for (const auto& index : indexes_) sum += index->bytes();
  if (matrix_ != nullptr) sum += matrix_->bytes();
  return sum;
}

set_view device_relation::rows_in_columns() const {
  set_view view;
  view.columns = column_table_.data();
  view.arity = arity_;
  return view;
}

set_view device_relation::set() const {
  set_view view = rows_in_columns();
  view.kept = lookup_;
  if (matrix_ != nullptr) return view;
  std::visit([&view](const auto& kind) { kind.show(view); }, kept_by_);
  return view;
}

void device_relation::make_lookup(const std::vector<std::uint32_t>& key) {
  lookup_ = matrix_->lookup(kept_question::tuple);
  if (!key.empty()) static_cast<void>(set_by_key(key));
}

set_view device_relation::set_by_key(const std::vector<std::uint32_t>& key) const {
  const std::vector<std::uint32_t> sources = matrix_->source_columns();
  const bool is_source = std::is_permutation(key.begin(), key.end(), sources.begin(), sources.end());
  set_view view = rows_in_columns();
  view.kept = matrix_->lookup(is_source ? kept_question::source : kept_question::node);
  return view;
}

void device_relation::keep_best(std::uint32_t column, const value_order& order) {
  constexpr std::uint32_t most_columns = 3;
  if (arity_ > most_columns) return;  // such relations are loaded complete
  const auto flip = static_cast<word>(order.rank(0));
  kept_by_.emplace<device_best>(*context_, *resource_, column, flip);
}

void device_relation::settle() {
  if (tail_ != rows_) std::visit([this](auto& kind) { kind.settle(set(), rows_, tail_); }, kept_by_);
}

namespace {
struct gather_row {
  const std::uint64_t* rows;
  const word* from;
  word* to;
  __device__ void operator()(std::uint64_t i) const { to[i] = from[rows[i]]; }
};
}  // namespace

void device_relation::compact_best(bool all) {
  auto& best = std::get<device_best>(kept_by_);
  if (tail_ == 0 || (!all && !best.is_worth_compacting(tail_)) || best.stale_rows() == 0) return;
  const std::uint64_t appended = tail_ - rows_;
  std::uint64_t kept = 0;
  const array<std::uint64_t> rows = best.select_tuples(set(), tail_, kept);
  // Drop indexes first: runs that are not built yet read the current columns.
  for (std::size_t i = 0; i < indexes_.size(); ++i) drop_index(i);
  for (auto& column : columns_) {
    array<word> packed(*resource_, column.size(), backend::fresh_memory::anything);
    backend::gpu::for_each(context_->stream(), kept, gather_row{rows.data(), column.data(), packed.data()});
    column.swap(packed);
  }
  show_columns();
  const std::uint64_t limit = limit_;
  count_rows(kept);
  limit_ = limit;
  old_rows_ = rows_ = kept - appended;
  best.set_compacted(kept);
}

void device_relation::bound_values(const std::vector<std::uint64_t>& bounds, std::uint64_t memory) {
  value_bounds_ = bounds;
  auto* const set = std::get_if<device_set>(&kept_by_);
  if (set == nullptr || only_appends_) return;
  if (set->bound_values(rows_in_columns(), tail_, bounds, memory)) limit_ = tail_;
}

void device_relation::extend_set(std::uint64_t limit, std::uint64_t extra, bool keep_set) {
  const auto extended = [&](auto& kind) { return kind.extend(rows_in_columns(), tail_, limit, extra, keep_set); };
  limit_ = only_appends_ ? limit : std::visit(extended, kept_by_);
}

/// Returns whether set and columns for `rows` rows fit into the free memory.
bool device_relation::fits_beside(std::uint64_t rows) const {
  const std::uint64_t all = resource_->limit() != 0 ? resource_->limit() : context_->memory_bytes() / 10 * 9;
  const std::uint64_t set_bytes =
      only_appends_ ? 0 : std::visit([](const auto& kind) { return kind.bytes_per_row(); }, kept_by_);
  const std::uint64_t bytes = rows * (arity_ * sizeof(word) + set_bytes);
  return bytes < all - std::min(all, resource_->used());
}

/// Returns the capacity of columns and set for `extra` more rows.
std::uint64_t device_relation::limit_for(std::uint64_t extra) const {
  if (only_appends_) {
    // Appending callers know the number of rows, so grow by half at most, only to avoid frequent growth.
    const std::uint64_t wanted = std::max({tail_ + extra, limit_, calibration::initial_rows});
    const std::uint64_t larger = limit_ + limit_ / 2;
    return larger > wanted && fits_beside(larger) ? larger : wanted;
  }
  std::uint64_t limit = std::max({limit_, columns_.front().size(), calibration::initial_rows});
  while (limit - tail_ < extra) {
    if (limit < calibration::fast_growth_rows) {
      limit *= 4;
    } else {
      limit = fits_beside(2 * limit) ? 2 * limit : limit + limit / 2;
    }
  }
  return limit;
}

void device_relation::grow(std::uint64_t extra, bool keep_set) {
  if (arity_ == 0 || room() >= extra) return;
  const std::uint64_t limit = limit_for(extra);
  if (only_appends_) require_room_for_columns(limit);
  try {
    for (auto& column : columns_) grow_column(column, limit);
  } catch (const backend::memory_exceeded&) {
    show_columns();  // as far as they have grown
    throw;
  }
  show_columns();
  extend_set(limit, extra, keep_set);
}

/// Columns are moved one by one, the last column while all larger columns exist. Fails before moving anything, because
/// columns larger than needed would take memory from the rest.
/// @throws memory_exceeded
void device_relation::require_room_for_columns(std::uint64_t limit) const {
  const std::uint64_t rows_more = limit - std::min(limit, columns_.front().size());
  if (rows_more == 0) return;
  const std::uint64_t bytes = ((arity_ - 1) * rows_more + limit) * sizeof(word);
  const std::uint64_t all = resource_->limit();
  if (all != 0 && bytes > all - std::min(all, resource_->used())) {
    throw backend::memory_exceeded(bytes, resource_->used(), all);
  }
}

void device_relation::grow_column(array<word>& column, std::uint64_t limit) {
  if (column.size() >= limit) return;
  array<word> larger(*resource_, limit, backend::fresh_memory::anything);
  if (tail_ != 0) {
    backend::gpu::copy_async(larger.data(), column.data(), tail_ * sizeof(word),
                             backend::gpu::direction::device_to_device, context_->stream());
  }
  column.swap(larger);
  if (!only_appends_) outgrown_columns_.push_back(std::move(larger));  // otherwise no kernel reads the old column yet
}

void device_relation::set_counter(std::uint64_t rows) {
  backend::gpu::for_each(context_->stream(), 1, put_counter{rows, counter_.data()});  // asynchronous
  set_tail(rows);
}

void device_relation::count_rows(std::uint64_t rows) {
  set_counter(rows);
  limit_ = rows;
  complete();
}

void device_relation::replace(std::vector<array<word>> columns, std::uint64_t rows) {
  for (std::size_t i = 0; i < indexes_.size(); ++i) drop_index(i);
  drop_set();
  columns_ = std::move(columns);
  show_columns();
  count_rows(rows);
}

void device_relation::replace(std::unique_ptr<device_row_matrix> matrix) {
  for (std::size_t i = 0; i < indexes_.size(); ++i) drop_index(i);
  drop_set();
  for (auto& column : columns_) column.release();
  matrix_ = std::move(matrix);
  count_rows(matrix_->rows());
}

void device_relation::materialize() {
  if (matrix_ == nullptr) return;
  std::vector<array<word>> made = matrix_->columns();
  const std::uint64_t count = rows();
  matrix_.reset();
  lookup_ = nullptr;
  replace(std::move(made), count);
}

void device_relation::make_set() {
  if (arity_ == 0) return;
  only_appends_ = false;
  if (limit_ != 0) extend_set(limit_, 0, false);
}

void device_relation::append(const std::vector<const word*>& columns, std::uint64_t rows) {
  grow(rows, false);
  for (std::uint32_t c = 0; c < arity_ && rows != 0; ++c) {
    backend::gpu::copy_async(columns_[c].data() + tail_, columns[c], rows * sizeof(word),
                             backend::gpu::direction::device_to_device, context_->stream());
  }
  set_counter(tail_ + rows);
}

std::size_t device_relation::add_index(index_layout layout) {
  indexes_.push_back(std::make_unique<device_index>(*resource_, std::move(layout), small_));
  return indexes_.size() - 1;
}

void device_relation::drop_index(std::size_t number) {
  indexes_[number] = std::make_unique<device_index>(*resource_, indexes_[number]->layout(), small_);
}

void device_relation::drop_set() {
  if (arity_ == 0) return;
  std::visit([](auto& kind) { kind.release(); }, kept_by_);
  limit_ = tail_;
}

void device_relation::adopt(const std::vector<const word*>& host_columns, std::uint64_t rows) {
  drop_set();
  upload(host_columns, rows);
  count_rows(rows);
}

}  // namespace gpulog::storage::gpu
