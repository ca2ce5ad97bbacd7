#include "storage/hisa/hisa_relation.hpp"

#include <bit>
#include <utility>

#include "backend/gpu/wave.hpp"
#include "storage/calibration.hpp"
#include "storage/hisa/hisa_level.cuh"
#include "storage/hisa/hisa_set.hpp"

namespace gpulog::storage::gpu {

using backend::gpu::phase;
using backend::gpu::phase_scope;

/// Sorted candidates of one or two words.
struct packed_rows {
  const std::uint64_t* keys;
  std::uint32_t arity;
  unsigned low_bits;  // of the second word
  __device__ word value(std::uint64_t i, std::uint32_t c) const {
    if (arity == 1) return static_cast<word>(keys[i]);
    return static_cast<word>(c == 0 ? keys[i] >> low_bits : keys[i] & ((std::uint64_t{1} << low_bits) - 1));
  }
  __device__ bool repeats(std::uint64_t i) const { return i != 0 && keys[i] == keys[i - 1]; }
};

namespace {

/// Removes the unused bits between two words, so that fewer bits are sorted.
struct join_words {
  const std::uint64_t* keys;
  std::uint64_t* out;
  unsigned low_bits;
  __device__ void operator()(std::uint64_t i) const { out[i] = keys[i] >> 32 << low_bits | static_cast<word>(keys[i]); }
};

/// Sorted candidates of any width.
struct wide_rows {
  const word* columns;
  const std::uint32_t* rows;
  std::uint64_t stride;
  std::uint32_t arity;
  __device__ word value(std::uint64_t i, std::uint32_t c) const { return columns[c * stride + rows[i]]; }
  __device__ bool repeats(std::uint64_t i) const {
    if (i == 0) return false;
    for (std::uint32_t c = 0; c < arity; ++c) {
      if (value(i, c) != value(i - 1, c)) return false;
    }
    return true;
  }
};

/// Duplicate removal and set difference in one pass: a candidate is new if its predecessor differs and full does not
/// contain it.
template <class Rows>
struct find_new {
  Rows sorted;
  hisa_set_view full;
  std::uint32_t* ranks;
  std::uint8_t* flags;
  std::uint64_t* new_keys;  // first columns that are not in full
  __device__ void operator()(std::uint64_t i) const {
    if (sorted.repeats(i)) {
      flags[i] = 0;
      return;
    }
    const auto found = full.find([this, i](std::uint32_t c) { return sorted.value(i, c); });
    ranks[i] = found.rank;
    flags[i] = found.present ? 0 : 1;
    if (found.new_key && (i == 0 || sorted.value(i - 1, 0) != sorted.value(i, 0))) {
      static_cast<void>(backend::gpu::count_up(new_keys));
    }
  }
};

template <class Rows>
struct append_new {
  Rows sorted;
  const std::uint32_t* selected;
  const std::uint32_t* ranks;
  std::uint32_t* fresh_ranks;
  word* const* columns;
  std::uint64_t tail;
  std::uint32_t arity;
  __device__ void operator()(std::uint64_t j) const {
    const std::uint32_t i = selected[j];
    fresh_ranks[j] = ranks[i];
    for (std::uint32_t c = 0; c < arity; ++c) columns[c][tail + j] = sorted.value(i, c);
  }
};

}  // namespace

hisa_relation::hisa_relation(hisa_workspace& space, std::uint32_t arity, const options& chosen)
    : device_columns(space.context, space.resource, arity),
      space_(&space),
      options_(chosen),
      positions_(space.resource),
      spare_positions_(space.resource),
      first_column_(space.resource, 1, hisa_set::load_factor, false),
      candidate_keys_(space.resource),
      candidate_columns_(space.resource),
      counters_(space.resource, 1 + (arity + 1) / 2),
      used_bits_(arity, 0) {}

std::uint64_t hisa_relation::bytes() const {
  std::uint64_t sum = positions_.bytes() + spare_positions_.bytes() + first_column_.bytes() + candidate_keys_.bytes() +
                      candidate_columns_.bytes() + column_bytes();
  for (const auto& index : indexes_) sum += index->bytes();
  return sum;
}

std::uint64_t hisa_relation::candidate_capacity() const {
  if (arity_ == 0) return UINT64_MAX;
  return is_packed() ? candidate_keys_.capacity() : candidate_stride_;
}

candidate_view hisa_relation::candidates() {
  return {candidate_keys_.data(), candidate_columns_.data(), candidate_stride_, counters_.data(),
          reinterpret_cast<word*>(counters_.data() + 1)};
}

void hisa_relation::grow_candidates(std::uint64_t capacity) {
  const phase_scope scope(space_->clock, phase::allocation);
  backend::gpu::stream_handle stream = space_->stream();
  if (is_packed()) {
    array<std::uint64_t> grown(space_->resource, capacity, backend::fresh_memory::anything);
    if (expected_ != 0) {
      backend::gpu::copy_async(grown.data(), candidate_keys_.data(), expected_ * sizeof(std::uint64_t),
                               backend::gpu::direction::device_to_device, stream);
    }
    candidate_keys_ = std::move(grown);
    return;
  }
  array<word> grown(space_->resource, capacity * arity_, backend::fresh_memory::anything);
  for (std::uint32_t c = 0; c < arity_ && expected_ != 0; ++c) {
    backend::gpu::copy_async(grown.data() + c * capacity, candidate_columns_.data() + c * candidate_stride_,
                             expected_ * sizeof(word), backend::gpu::direction::device_to_device, stream);
  }
  candidate_columns_ = std::move(grown);
  candidate_stride_ = capacity;
}

void hisa_relation::release_candidates() {
  candidate_keys_.release();
  candidate_columns_.release();
  candidate_stride_ = 0;
}

std::uint64_t hisa_relation::make_candidate_room(std::uint64_t wanted) {
  const auto room = [this] { return candidate_capacity() - expected_; };
  if (arity_ == 0 || room() >= wanted) return room();
  const std::uint64_t most = options_.candidate_rows;
  const auto enough = [&] { return room() >= wanted || (room() != 0 && room() >= most / 2); };
  if (candidate_capacity() < most) {
    const std::uint64_t needed =
        std::max({expected_ + wanted, 2 * candidate_capacity(), calibration::least_hisa_candidates});
    try {
      grow_candidates(std::min(most, needed));
    } catch (const backend::memory_exceeded&) {
      if (candidate_capacity() == 0) throw;
      options_.candidate_rows = candidate_capacity();  // continue with the memory that is left
    }
  }
  if (enough()) return room();
  // Filters may have let fewer candidates pass than expected.
  const std::uint64_t n = read_candidates();
  if (!enough()) deduplicate(n);
  return room();
}

std::uint64_t hisa_relation::read_candidates() {
  const std::uint64_t* const values = space_->read(counters_.data(), counters_.size());
  for (std::uint32_t c = 0; c < arity_; ++c) used_bits_[c] |= static_cast<word>(values[1 + c / 2] >> (c % 2 * 32));
  expected_ = values[0];
  return expected_;
}

void hisa_relation::settle() {
  if (expected_ == 0) return;
  const phase_scope scope(space_->clock, phase::populate_delta);
  const std::uint64_t n = read_candidates();
  if (arity_ == 0) {
    tail_ = n == 0 ? 0 : 1;
    expected_ = 0;
  } else {
    deduplicate(n);
    // A different relation may need the memory more.
    if (candidate_capacity() > calibration::released_hisa_candidates && n < candidate_capacity() / 4)
      release_candidates();
  }
}

void hisa_relation::deduplicate(std::uint64_t n) {
  if (n == 0) return;
  const phase_scope scope(space_->clock, phase::populate_delta);
  if (is_packed()) {
    add_new(sort_packed(n), n);
  } else {
    std::vector<const word*> columns;
    for (std::uint32_t c = 0; c < arity_; ++c) columns.push_back(candidate_columns_.data() + c * candidate_stride_);
    const std::uint32_t* const rows = space_->sort_rows(columns, used_bits_, n);
    add_new(wide_rows{candidate_columns_.data(), rows, candidate_stride_, arity_}, n);
  }
  // Clears new.
  backend::gpu::fill_async(counters_.data(), 0, sizeof(std::uint64_t), space_->stream());
  expected_ = 0;
}

packed_rows hisa_relation::sort_packed(std::uint64_t n) {
  constexpr unsigned digit_bits = 8;
  const auto passes = [](unsigned bits) { return (bits + digit_bits - 1) / digit_bits; };
  std::uint64_t* const keys = candidate_keys_.data();
  std::uint64_t* const other = space_->scratch(space_->other_keys, n);
  const auto low_bits = static_cast<unsigned>(std::bit_width(used_bits_[arity_ - 1]));
  if (arity_ == 1) return {space_->sort_keys(keys, other, n, 0, low_bits), 1, 0};
  const auto high_bits = static_cast<unsigned>(std::bit_width(used_bits_[0]));
  // Joining the words costs about as much as one pass of the sort; with few candidates every kernel costs the same.
  if (n < calibration::few_sorted_rows || passes(low_bits + high_bits) < passes(low_bits) + passes(high_bits)) {
    hisa_for_each(*space_, n, join_words{keys, other, low_bits});
    return {space_->sort_keys(other, keys, n, 0, low_bits + high_bits), 2, low_bits};
  }
  std::uint64_t* const sorted = space_->sort_keys(keys, other, n, 0, low_bits);
  return {space_->sort_keys(sorted, sorted == keys ? other : keys, n, word_bits, word_bits + high_bits), 2, word_bits};
}

template <class Rows>
void hisa_relation::add_new(const Rows& sorted, std::uint64_t n) {
  std::uint32_t* const ranks = space_->scratch(space_->ranks, n);
  std::uint8_t* const flags = space_->scratch(space_->flags, n);
  std::uint32_t* const selected = space_->scratch(space_->selected, n);
  std::uint64_t* const counts = space_->counters();
  space_->clear_counters(2);
  hisa_for_each(*space_, n, find_new<Rows>{sorted, set(), ranks, flags, counts + 1});
  space_->select(flags, n, selected, counts);
  const std::uint64_t* const found = space_->read(counts, 2);
  const std::uint64_t fresh = found[0];
  const std::uint64_t new_keys = found[1];
  if (fresh == 0) return;
  // Positions have 32 bits.
  if (tail_ + fresh >= UINT32_MAX) {
    throw backend::memory_exceeded((tail_ + fresh) * arity_ * sizeof(word), space_->resource.used(),
                                   std::uint64_t{UINT32_MAX} * arity_ * sizeof(word));
  }
  reserve_rows(fresh);
  std::uint32_t* const fresh_ranks = space_->scratch(space_->fresh_ranks, fresh);
  hisa_for_each(*space_, fresh,
                append_new<Rows>{sorted, selected, ranks, fresh_ranks, column_table_.data(), tail_, arity_});
  merge(fresh, new_keys);
  sorted_begin_ = tail_;
  tail_ += fresh;
}

void hisa_relation::reserve_rows(std::uint64_t fresh) {
  const std::uint64_t needed = tail_ + fresh;
  if (columns_.back().capacity() >= needed) return;
  const phase_scope scope(space_->clock, phase::allocation);
  const std::uint64_t capacity = std::max(needed, options_.buffers.capacity(tail_, fresh));
  for (auto& column : columns_) {
    auto grown = roomy_array<word>(space_->resource, needed, capacity);
    if (tail_ != 0) {
      backend::gpu::copy_async(grown.data(), column.data(), tail_ * sizeof(word),
                               backend::gpu::direction::device_to_device, space_->stream());
    }
    column.swap(grown);
    // The running pipeline may still read the old column.
    if (rows_ != 0) outgrown_columns_.push_back(std::move(grown));
  }
  show_columns();
}

void hisa_relation::adopt(const std::vector<const word*>& columns, std::uint64_t rows) {
  drop_set();
  upload(columns, rows);
  if (arity_ != 0 && rows != 0) {
    show_columns();
    space_->context.synchronize();  // the caller may free the host's columns
    used_bits_.assign(arity_, ~word{0});
  }
  tail_ = sorted_begin_ = rows;
  complete();
}

void hisa_relation::merge(std::uint64_t fresh, std::uint64_t new_keys) {
  const std::uint64_t merged = tail_ + fresh;
  const std::uint32_t* const ranks = space_->fresh_ranks.data();
  {
    const phase_scope scope(space_->clock, phase::merge);
    if (spare_positions_.capacity() < merged) {
      const phase_scope allocating(space_->clock, phase::allocation);
      make_room(spare_positions_, merged, options_.buffers.capacity(tail_, fresh));
    }
    spare_positions_.resize(merged);
    const std::uint32_t* const splits = space_->split(ranks, fresh, merged);
    merge_by_rank(*space_, ranks, splits, merged, array_element{positions_.data()},
                  counted_element{static_cast<word>(tail_)}, spare_positions_.data());
    positions_.swap(spare_positions_);
    if (!options_.buffers.eager) spare_positions_.release();
  }
  const phase_scope scope(space_->clock, phase::index);
  const column_entries leading{columns_[0].data() + tail_};
  std::uint32_t* const heads = space_->scratch(space_->selected, fresh);
  if (new_keys != 0) {
    std::uint8_t* const flags = space_->scratch(space_->flags, fresh);
    first_column_.mark_new(*space_, leading, fresh, flags);
    space_->select(flags, fresh, heads, space_->counters());
  }
  first_column_.absorb(*space_, leading, fresh, heads, new_keys, merged, options_.buffers);
}

hisa_set_view hisa_relation::set() const {
  return {first_column_.view(), positions_.data(), column_table_.data(), tail_, arity_};
}

std::size_t hisa_relation::add_index(index_layout layout) {
  indexes_.push_back(std::make_unique<hisa_index>(space_->resource, std::move(layout), options_.buffers));
  return indexes_.size() - 1;
}

void hisa_relation::refresh_index(std::size_t number) {
  hisa_data data;
  data.columns = columns();
  data.column_table = column_table_.data();
  data.used_bits = used_bits_;
  data.old_rows = old_rows_;
  data.rows = rows_;
  data.sorted_begin = sorted_begin_;
  data.sorted_end = tail_;
  indexes_[number]->refresh(*space_, data);
}

void hisa_relation::drop_index(std::size_t number) {
  indexes_[number] = std::make_unique<hisa_index>(space_->resource, indexes_[number]->layout(), options_.buffers);
}

void hisa_relation::drop_set() {
  if (arity_ == 0) return;
  release_candidates();
  positions_.release();
  spare_positions_.release();
  first_column_ = hisa_level(space_->resource, 1, hisa_set::load_factor, false);
}

}  // namespace gpulog::storage::gpu
