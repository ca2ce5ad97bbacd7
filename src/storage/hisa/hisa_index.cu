#include "storage/hisa/hisa_index.hpp"

#include <utility>

#include "storage/hisa/hisa_level.cuh"

namespace gpulog::storage::gpu {

using backend::gpu::phase;
using backend::gpu::phase_scope;

namespace {

struct offset_positions {
  const std::uint32_t* rows;  // null: in order
  std::uint32_t begin;
  std::uint32_t* out;
  __device__ void operator()(std::uint64_t i) const {
    out[i] = begin + (rows == nullptr ? static_cast<std::uint32_t>(i) : rows[i]);
  }
};

/// Computes the number of rows of full that precede a row of delta; rows with equal keys do.
struct rank_row {
  level_view full;
  sorted_row_entries delta;
  std::uint32_t* ranks;
  __device__ void operator()(std::uint64_t j) const {
    const auto key = [this, j](std::uint32_t c) { return delta.key(j, c); };
    const row_range range = full.find(key);
    ranks[j] = range.count != 0 ? range.first + range.count : full.first[full.lower_bound(key)];
  }
};

}  // namespace

hisa_run::hisa_run(memory_resource& resource, const index_layout& layout)
    : layout_(&layout), positions_(resource), spare_positions_(resource) {
  for (std::uint32_t length : layout.key_lengths) levels_.emplace_back(resource, length, layout.load, true);
}

std::uint64_t hisa_run::bytes() const {
  std::uint64_t sum = positions_.bytes() + spare_positions_.bytes();
  for (const hisa_level& level : levels_) sum += level.bytes();
  return sum;
}

void hisa_run::build(hisa_workspace& space, const hisa_data& data, const std::uint32_t* order, std::uint64_t begin,
                     std::uint64_t end) {
  const std::uint64_t n = end - begin;
  {
    const phase_scope scope(space.clock, phase::allocation);
    make_room(positions_, n);
  }
  // Rows in tuple order are also sorted by every prefix of the tuple.
  bool in_order = begin >= data.sorted_begin && end <= data.sorted_end;
  for (std::uint32_t c = 0; c < layout_->sorted_columns(); ++c) in_order = in_order && layout_->order[c] == c;
  const std::uint32_t* rows = nullptr;
  if (!in_order) {
    std::vector<const word*> columns;
    std::vector<word> used_bits;
    for (std::uint32_t c = 0; c < layout_->sorted_columns(); ++c) {
      columns.push_back(data.columns[layout_->order[c]] + begin);
      used_bits.push_back(data.used_bits[layout_->order[c]]);
    }
    rows = space.sort_rows(columns, used_bits, n);
  }
  hisa_for_each(space, n, offset_positions{rows, static_cast<std::uint32_t>(begin), positions_.data()});

  std::vector<array<std::uint32_t>> heads;
  space.clear_counters(levels_.size());
  std::uint8_t* const flags = space.scratch(space.flags, n);
  for (std::size_t l = 0; l < levels_.size(); ++l) {
    const sorted_row_entries entries{data.column_table, order, positions_.data(), levels_[l].length()};
    levels_[l].mark_new(space, entries, n, flags);
    heads.emplace_back(space.resource, n, backend::fresh_memory::anything);
    space.select(flags, n, heads[l].data(), space.counters() + l);
  }
  const std::uint64_t* const counts = space.read(space.counters(), levels_.size());
  const std::vector<std::uint64_t> groups(counts, counts + levels_.size());
  for (std::size_t l = 0; l < levels_.size(); ++l) {
    const sorted_row_entries entries{data.column_table, order, positions_.data(), levels_[l].length()};
    levels_[l].absorb(space, entries, n, heads[l].data(), groups[l], n, buffer_policy{false, 0});
  }
}

void hisa_run::absorb(hisa_workspace& space, const hisa_data& data, const std::uint32_t* order, const hisa_run& delta,
                      const buffer_policy& buffers) {
  const std::uint64_t old = rows();
  const std::uint64_t n = delta.rows();
  const std::uint64_t merged = old + n;
  std::uint32_t* const ranks = space.scratch(space.ranks, n);
  const sorted_row_entries finest{data.column_table, order, delta.positions_.data(), levels_.back().length()};
  hisa_for_each(space, n, rank_row{levels_.back().view(), finest, ranks});

  std::vector<array<std::uint32_t>> heads;
  space.clear_counters(levels_.size());
  for (std::size_t l = 0; l < levels_.size(); ++l) {
    const level_view from = delta.levels_[l].view();
    std::uint8_t* const flags = space.scratch(space.flags, from.groups);
    levels_[l].mark_new(space, group_entries{from}, from.groups, flags);
    heads.emplace_back(space.resource, from.groups, backend::fresh_memory::anything);
    space.select(flags, from.groups, heads[l].data(), space.counters() + l);
  }
  {
    const phase_scope scope(space.clock, phase::merge);
    if (spare_positions_.capacity() < merged) {
      const phase_scope allocating(space.clock, phase::allocation);
      make_room(spare_positions_, merged, buffers.capacity(old, n));
    }
    spare_positions_.resize(merged);
    const std::uint32_t* const splits = space.split(ranks, n, merged);
    merge_by_rank(space, ranks, splits, merged, array_element{positions_.data()},
                  array_element{delta.positions_.data()}, spare_positions_.data());
    positions_.swap(spare_positions_);
    if (!buffers.eager) spare_positions_.release();
  }
  const std::uint64_t* const counts = space.read(space.counters(), levels_.size());
  const std::vector<std::uint64_t> groups(counts, counts + levels_.size());
  for (std::size_t l = 0; l < levels_.size(); ++l) {
    const level_view from = delta.levels_[l].view();
    levels_[l].absorb(space, group_entries{from}, from.groups, heads[l].data(), groups[l], merged, buffers);
  }
}

hisa_index::run_pointer hisa_index::make_run(hisa_workspace& space, const hisa_data& data, std::uint64_t begin,
                                             std::uint64_t end) {
  auto run = std::make_unique<hisa_run>(*resource_, layout_);
  run->build(space, data, order_.data(), begin, end);
  return run;
}

void hisa_index::fold(hisa_workspace& space, const hisa_data& data, run_pointer run) {
  if (full_ == nullptr) {
    full_ = std::move(run);
  } else {
    full_->absorb(space, data, order_.data(), *run, buffers_);
  }
}

void hisa_index::refresh(hisa_workspace& space, const hisa_data& data) {
  if (indexed_ == data.rows && delta_begin_ == data.old_rows) return;
  const phase_scope scope(space.clock, phase::index);
  if (order_.size() == 0 && !layout_.order.empty()) {
    order_.resize(layout_.order.size());
    backend::gpu::copy_async(order_.data(), layout_.order.data(), layout_.order.size() * sizeof(std::uint32_t),
                             backend::gpu::direction::host_to_device, space.stream());
  }
  if (data.old_rows < indexed_) {
    // Old rows became delta again. Runs are never split, so start over.
    full_.reset();
    delta_.reset();
    indexed_ = 0;
  }
  if (delta_ != nullptr) fold(space, data, std::exchange(delta_, nullptr));
  if (indexed_ < data.old_rows) {
    fold(space, data, make_run(space, data, indexed_, data.old_rows));
    indexed_ = data.old_rows;
  }
  if (indexed_ < data.rows) delta_ = make_run(space, data, indexed_, data.rows);
  indexed_ = data.rows;
  delta_begin_ = data.old_rows;
}

std::vector<hisa_run_view> hisa_index::views(bool with_old, bool with_delta, std::size_t level) const {
  std::vector<hisa_run_view> views;
  if (with_old && full_ != nullptr) views.push_back(full_->view(level));
  if (with_delta && delta_ != nullptr) views.push_back(delta_->view(level));
  return views;
}

std::uint64_t hisa_index::bytes() const {
  return order_.bytes() + (full_ == nullptr ? 0 : full_->bytes()) + (delta_ == nullptr ? 0 : delta_->bytes());
}

}  // namespace gpulog::storage::gpu
