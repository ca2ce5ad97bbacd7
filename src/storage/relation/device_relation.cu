#include "storage/relation/device_relation.hpp"

#include <algorithm>
#include <utility>

#include "backend/gpu/for_each.hpp"
#include "backend/gpu/primitives_by_functor.hpp"
#include "backend/gpu/staging_ring.hpp"
#include "backend/gpu/wave.hpp"
#include "storage/sets/bit_set.hpp"
#include "storage/sets/packed_slots.cuh"

namespace gpulog::storage::gpu {

namespace {

struct row_key {
  word* const* columns;
  std::uint64_t row;
  __device__ word operator()(std::uint32_t c) const { return columns[c][row]; }
};
/// Puts a slot's new content where its hash belongs. Nobody else offers the same one.
__device__ inline void place_new(std::uint64_t* slots, std::uint64_t capacity, std::uint64_t hash, std::uint64_t slot) {
  std::uint64_t at = scale(hash, capacity);
  while (atomicCAS(reinterpret_cast<unsigned long long*>(slots + at), 0ULL, slot) != 0)
    at = at + 1 == capacity ? 0 : at + 1;
}
struct hash_packed {
  word* const* columns;
  std::uint32_t arity;
  std::uint64_t* slots;
  std::uint64_t capacity;
  std::uint32_t* has_zero;
  __device__ void operator()(std::uint64_t row) const {
    const std::uint64_t key = set_view::packed(arity, row_key{columns, row});
    if (key == 0) {
      *has_zero = 1;
      return;
    }
    place_new(slots, capacity, mix(key), key);
  }
};
/// Moves a slot to a larger table. As places grow with the hash, tables are read and written from front to back.
/// @tparam KeyShift bits of a slot below its key: 0 where it is a tuple, packed_word::bits where it is a word
template <unsigned KeyShift>
struct rehash_slot {
  const std::uint64_t* from;
  std::uint64_t* slots;
  std::uint64_t capacity;
  __device__ void operator()(std::uint64_t place) const {
    const std::uint64_t slot = from[place];
    if (slot != 0) place_new(slots, capacity, mix(slot >> KeyShift), slot);
  }
};
/// A row into a set that is no more than its slots, for a set that is made anew.
struct insert_row {
  set_view set;
  __device__ void operator()(std::uint64_t row) const {
    insert_packed(set, set_view::packed(set.arity, row_key{set.columns, row}));
  }
};
__global__ void count_used_kernel(const std::uint64_t* slots, std::uint64_t n, std::uint64_t* count) {
  std::uint32_t used = 0;
  for (std::uint64_t i = backend::gpu::thread_number(); i < n; i += backend::gpu::thread_count())
    used += slots[i] != 0 ? 1 : 0;
  used = backend::gpu::sum_of_lanes(used);
  if (backend::gpu::lane() == 0) atomicAdd(reinterpret_cast<unsigned long long*>(count), used);
}
struct rehash_rows {
  set_view set;
  __device__ void operator()(std::uint64_t row) const {
    const std::uint64_t hash = set.tuple_hash(row_key{set.columns, row});
    const std::uint64_t entry = (hash << row_bits) | (row + 1);
    std::uint64_t at = scale(hash, set.capacity);
    while (atomicCAS(reinterpret_cast<unsigned long long*>(set.slots + at), 0ULL, entry) != 0) {
      at = at + 1 == set.capacity ? 0 : at + 1;
    }
  }
};

/// Offers candidate i: a slot refers to the candidate until it has a row. Candidates were written by earlier kernels,
/// so whoever sees the slot sees the tuple.
struct offer_candidate {
  set_view set;
  const word* const* candidates;
  std::uint64_t* slot_of;  // of a winner; UINT64_MAX: not new
  __device__ void operator()(std::uint64_t i) const {
    const auto own = [&](std::uint32_t c) { return candidates[c][i]; };
    const std::uint64_t hash = set.tuple_hash(own);
    const std::uint64_t entry = (hash << row_bits) | pending_flag | (i + 1);
    slot_of[i] = UINT64_MAX;
    for (std::uint64_t at = scale(hash, set.capacity);; at = at + 1 == set.capacity ? 0 : at + 1) {
      const std::uint64_t seen = atomicCAS(reinterpret_cast<unsigned long long*>(set.slots + at), 0ULL, entry);
      if (seen == 0) {
        slot_of[i] = at;
        return;
      }
      if ((seen & ~row_mask) != (entry & ~row_mask)) continue;
      const bool pending = (seen & pending_flag) != 0;
      const std::uint64_t other = (seen & (pending_flag - 1)) - 1;
      bool same = true;
      for (std::uint32_t c = 0; c < set.arity && same; ++c)
        same = (pending ? candidates[c][other] : set.columns[c][other]) == own(c);
      if (same) return;
    }
  }
};
struct is_winner {
  const std::uint64_t* slot_of;
  __device__ bool operator()(std::uint32_t i) const { return slot_of[i] != UINT64_MAX; }
};
struct give_row {
  set_view set;
  const word* const* candidates;
  const std::uint64_t* slot_of;
  const std::uint32_t* winners;
  const std::uint64_t* winner_count;
  const append_counter* counter;
  __device__ void operator()(std::uint64_t w) const {
    if (w >= *winner_count) return;
    const std::uint32_t i = winners[w];
    const std::uint64_t row = counter->tail + w;
    for (std::uint32_t c = 0; c < set.arity; ++c) set.columns[c][row] = candidates[c][i];
    std::uint64_t& slot = set.slots[slot_of[i]];
    slot = (slot & ~row_mask) | (row + 1);
  }
};
struct add_winners {
  const std::uint64_t* winner_count;
  append_counter* counter;
  __device__ void operator()(std::uint64_t) const {
    counter->tail += *winner_count;
    counter->tail_before = counter->tail;
  }
};

/// A set is at most half full: probes stay short, and duplicates dominate.
constexpr std::uint64_t slots_per_row = 2;
constexpr std::uint64_t initial_rows = 1u << 14;
/// Small relations grow faster, as every growth waits for the device.
constexpr std::uint64_t fast_growth_rows = 1u << 25;
/// A matrix that takes no longer to clear than a growth of a small set: this at the rate of the device's memory.
constexpr double clearing_seconds = 7e-6;
std::uint64_t small_matrix_bytes(const backend::gpu::device_context& context) {
  constexpr std::uint64_t of_unknown_devices = 8u << 20;
  const double rate = context.properties().bytes_per_second;
  return rate > 0 ? static_cast<std::uint64_t>(rate * clearing_seconds) : of_unknown_devices;
}
/// A matrix that is at most so many times as large as a hash set takes its place: clearing it takes less time than what
/// probing costs more.
constexpr std::uint64_t matrix_per_hash = 8;
/// Words pay where a set of tuples is larger than the cache, and where so many tuples share one.
constexpr std::uint64_t least_rows_of_words = 16u << 20;
constexpr double least_tuples_per_word = 2;
}  // namespace

device_relation::device_relation(const backend::gpu::device_context& context, memory_resource& resource,
                                 std::uint32_t arity, set_choice sets, small_run_builder* small)
    : context_(&context),
      resource_(&resource),
      arity_(arity),
      small_(small),
      column_table_(resource),
      sets_(sets),
      bits_(resource),
      slots_(resource),
      has_zero_(resource, 1),
      counter_(resource, 1) {
  for (std::uint32_t c = 0; c < arity; ++c) columns_.emplace_back(resource);
}

column_pointers device_relation::columns() const {
  column_pointers pointers;
  for (const auto& column : columns_) pointers.push_back(column.data());
  return pointers;
}

std::uint64_t device_relation::bytes() const {
  std::uint64_t sum = slots_.bytes() + bits_.bytes() + (best_ ? best_->bytes() : 0);
  for (const auto& column : columns_) sum += column.bytes();
  for (const auto& index : indexes_) sum += index->bytes();
  return sum;
}

set_view device_relation::set() const {
  set_view view;
  view.slots = const_cast<std::uint64_t*>(slots_.data());
  view.capacity = slots_.size();
  view.has_zero = const_cast<std::uint32_t*>(has_zero_.data());
  view.columns = column_table_.data();
  view.arity = arity_;
  if (bits_.size() != 0) {
    view.bits = const_cast<std::uint32_t*>(bits_.data());
    view.capacity = bits_.size();
    view.stride = bounds_->stride * 2;
  }
  if (is_words_) view.words_per_row = packed_word::stride(*bounds_);
  if (best_) best_->show(view);
  return view;
}

void device_relation::keep_best(std::uint32_t column, const value_order& order) {
  constexpr std::uint32_t most_columns = 3;
  if (arity_ > most_columns) return;  // it comes complete
  const auto flip = static_cast<word>(order.rank(0));
  best_ = std::make_unique<device_best>(*context_, *resource_, column, flip);
}

void device_relation::settle() {
  read_tail();
  if (best_ && tail_ != rows_) best_->publish(set(), rows_, tail_);
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
  if (tail_ == 0 || (!all && !best_->is_worth_compacting(tail_)) || best_->stale_rows() == 0) return;
  const std::uint64_t appended = tail_ - rows_;
  std::uint64_t kept = 0;
  const array<std::uint64_t> rows = best_->select_tuples(set(), tail_, kept);
  // First: runs that were not built yet read the columns as they are.
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
  best_->set_compacted(kept);
}

void device_relation::bound_values(const std::vector<std::uint64_t>& bounds, std::uint64_t memory) {
  value_bounds_ = bounds;
  // Another form of the stratum has chosen a set for these values.
  if (bits_.size() != 0 || is_words_) return;
  if (sets_ == set_choice::hash || arity_ == 0 || !is_packed() || best_ || only_appends_) return;
  bounds_ = bit_matrix_shape::of(bounds);
  memory_ = memory;
  if (sets_ == set_choice::words) {
    if (packed_word::can_hold(*bounds_)) become_words(std::max(slots_.size(), initial_rows), false);
  } else if (sets_ == set_choice::bits || bounds_->bytes() <= std::max(small_matrix_bytes(*context_), slots_.bytes())) {
    become_bits(false);
  }
}

/// @return whether there was memory for a matrix
bool device_relation::become_bits(bool keep_set) {
  if (bounds_->bytes() > set_sizes::largest_matrix(sets_, memory_, resource_->used())) return false;
  try {
    bits_ = array<std::uint32_t>(*resource_, bounds_->rows * bounds_->stride * 2);
  } catch (const backend::memory_exceeded&) {
    memory_ = 0;
    return false;
  }
  backend::gpu::for_each(context_->stream(), tail_, insert_row{set()});
  if (keep_set) outgrown_slots_.push_back(std::move(slots_));
  slots_ = array<std::uint64_t>(*resource_);
  is_words_ = false;
  return true;
}

/// A table of words instead of tuples. @return whether there was memory for it, and enough tuples share a word
bool device_relation::become_words(std::uint64_t slots, bool keep_set) {
  array<std::uint64_t> tuples(*resource_);
  tuples.swap(slots_);
  try {
    slots_ = array<std::uint64_t>(*resource_, slots);
  } catch (const backend::memory_exceeded&) {
    slots_.swap(tuples);
    few_share_words_ = true;
    return false;
  }
  is_words_ = true;
  backend::gpu::for_each(context_->stream(), tail_, insert_row{set()});
  if (sets_ == set_choice::automatic && tail_ < least_tuples_per_word * used_slots()) {
    slots_.swap(tuples);
    is_words_ = false;
    few_share_words_ = true;
    return false;
  }
  if (keep_set) outgrown_slots_.push_back(std::move(tuples));
  limit_ = tail_;
  return true;
}

std::uint64_t device_relation::used_slots() const {
  array<std::uint64_t> count(*resource_, 1);
  backend::gpu::launch(GPULOG_KERNEL(count_used_kernel),
                       {backend::gpu::blocks_for(slots_.size()), backend::gpu::for_each_threads, 0, context_->stream()},
                       slots_.data(), slots_.size(), count.data());
  return context_->read_counter(count.data());
}

/// Slots for that many more tuples, each of which may need one, and says how many there are room for.
void device_relation::make_word_room(std::uint64_t extra, bool keep_set) {
  const std::uint64_t used = used_slots();
  // Counting takes time, too: it should not happen for a few tuples.
  const std::uint64_t wanted = used + std::max(extra, slots_.size() / 16);
  std::uint64_t capacity = slots_.size();
  while (capacity / slots_per_row < wanted) capacity *= capacity < fast_growth_rows ? 4 : 2;
  if (capacity != slots_.size()) {
    array<std::uint64_t> smaller(*resource_, capacity);
    smaller.swap(slots_);
    backend::gpu::for_each(context_->stream(), smaller.size(),
                           rehash_slot<packed_word::bits>{smaller.data(), slots_.data(), capacity});
    if (keep_set) outgrown_slots_.push_back(std::move(smaller));
  }
  limit_ = std::min(columns_.front().size(), tail_ + capacity / slots_per_row - used);
}

/// The set for that many rows, or for words with room for `extra` more.
void device_relation::extend_set(std::uint64_t limit, std::uint64_t extra, bool keep_set) {
  if (only_appends_) {
    limit_ = limit;
    return;
  }
  if (best_) {
    best_->grow(limit, keep_set);
    limit_ = limit;
    return;
  }
  const std::uint64_t slots = limit * slots_per_row;
  const bool may_change = bounds_ && sets_ != set_choice::words;
  if (bits_.size() == 0 && may_change && bounds_->bytes() / matrix_per_hash <= slots * sizeof(std::uint64_t)) {
    become_bits(keep_set);
  }
  const bool may_be_words = bounds_ && sets_ == set_choice::automatic && !few_share_words_;
  if (bits_.size() == 0 && !is_words_ && may_be_words && tail_ >= least_rows_of_words &&
      packed_word::can_hold(*bounds_)) {
    become_words(limit, keep_set);
  }
  if (is_words_) return make_word_room(extra, keep_set);
  if (bits_.size() == 0) rehash(slots, keep_set);
  limit_ = limit;
}

/// Whether set and columns of that many rows fit into memory beside those that are there.
bool device_relation::fits_beside(std::uint64_t rows) const {
  const std::uint64_t all = resource_->limit() != 0 ? resource_->limit() : context_->memory_bytes() / 10 * 9;
  const std::uint64_t slot_bytes = bits_.size() != 0 || only_appends_ ? 0 : slots_per_row * sizeof(std::uint64_t);
  const std::uint64_t bytes = rows * (arity_ * sizeof(word) + slot_bytes);
  return bytes < all - std::min(all, resource_->used());
}

/// Rows that columns and set are to hold when that many more come.
std::uint64_t device_relation::limit_for(std::uint64_t extra) const {
  if (only_appends_) {
    // Who appends knows how much; half as much again only lest it happens often.
    const std::uint64_t wanted = std::max({tail_ + extra, limit_, initial_rows});
    const std::uint64_t larger = limit_ + limit_ / 2;
    return larger > wanted && fits_beside(larger) ? larger : wanted;
  }
  std::uint64_t limit = std::max({limit_, columns_.front().size(), initial_rows});
  while (limit - tail_ < extra) {
    if (limit < fast_growth_rows) {
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

namespace {
constexpr std::uint32_t most_shown_at_once = 16;
struct shown_columns {
  word* columns[most_shown_at_once];
};
__global__ void show_kernel(const shown_columns shown, word** table, std::uint32_t count) {
  if (threadIdx.x < count) table[threadIdx.x] = shown.columns[threadIdx.x];
}
}  // namespace

/// Columns move one by one, the last one beside all that are there by then. What can't succeed must not begin, as
/// columns that are larger than they need be take the place of others. @throws memory_exceeded
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
  if (!only_appends_) outgrown_columns_.push_back(std::move(larger));  // else nobody reads it yet
}

/// Kernels find the columns through a table.
void device_relation::show_columns() {
  std::vector<word*> pointers;
  for (auto& column : columns_) pointers.push_back(column.data());
  if (pointers == shown_columns_) return;
  shown_columns_ = pointers;
  column_table_.resize(arity_);
  for (std::uint32_t first = 0; first < arity_; first += most_shown_at_once) {
    const std::uint32_t count = std::min(arity_ - first, most_shown_at_once);
    shown_columns shown{};
    std::copy_n(pointers.begin() + first, count, shown.columns);
    backend::gpu::launch(GPULOG_KERNEL(show_kernel), {1, most_shown_at_once, 0, context_->stream()}, shown,
                         column_table_.data() + first, count);
  }
}

void device_relation::count_rows(std::uint64_t rows) {
  const append_counter counted = {rows, rows};
  backend::gpu::copy_async(counter_.data(), &counted, sizeof counted, backend::gpu::direction::host_to_device,
                           context_->stream());
  context_->synchronize();
  set_tail(rows);
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

void device_relation::make_set() {
  if (arity_ == 0 || rows_ == 0) return;
  only_appends_ = false;
  extend_set(limit_, 0, false);
}

void device_relation::rehash(std::uint64_t capacity, bool keep_set) {
  array<std::uint64_t> smaller(std::move(slots_));
  slots_ = array<std::uint64_t>(*resource_);
  try {
    slots_ = array<std::uint64_t>(*resource_, capacity);
  } catch (const backend::memory_exceeded&) {
    if (keep_set) {
      slots_.swap(smaller);
      throw;
    }
    const std::uint64_t before = smaller.size();
    smaller.release();  // the columns have all that it had
    try {
      slots_ = array<std::uint64_t>(*resource_, capacity);
    } catch (const backend::memory_exceeded&) {
      slots_ = array<std::uint64_t>(*resource_, before);
      rehash_rows_into_slots();
      throw;
    }
  }
  backend::gpu::stream_handle stream = context_->stream();
  if (smaller.size() == 0 || !is_packed()) {
    rehash_rows_into_slots();
  } else {
    backend::gpu::for_each(stream, smaller.size(), rehash_slot<0>{smaller.data(), slots_.data(), capacity});
  }
  if (keep_set) outgrown_slots_.push_back(std::move(smaller));
}

void device_relation::rehash_rows_into_slots() {
  backend::gpu::stream_handle stream = context_->stream();
  if (!is_packed()) {
    backend::gpu::for_each(stream, tail_, rehash_rows{set()});
  } else {
    backend::gpu::for_each(stream, tail_,
                           hash_packed{column_table_.data(), arity_, slots_.data(), slots_.size(), has_zero_.data()});
  }
}

void device_relation::read_tail() {
  if (!tail_is_bound_) return;
  set_tail(context_->read_counter(&counter_.data()->tail));
  tail_is_bound_ = false;
}

void device_relation::insert_rows(const word* const* device_columns, std::uint64_t n) {
  backend::gpu::stream_handle stream = context_->stream();
  array<std::uint64_t> slot_of(*resource_, n, backend::fresh_memory::anything);
  array<std::uint32_t> winners(*resource_, n, backend::fresh_memory::anything);
  array<std::uint64_t> count(*resource_, 1);
  backend::gpu::for_each(stream, n, offer_candidate{set(), device_columns, slot_of.data()});
  backend::gpu::with_scratch(*resource_, [&](void* scratch, std::size_t& bytes) {
    backend::gpu::select_if(scratch, bytes, winners.data(), count.data(), n, is_winner{slot_of.data()}, stream);
  });
  backend::gpu::for_each(
      stream, n, give_row{set(), device_columns, slot_of.data(), winners.data(), count.data(), counter_.data()});
  backend::gpu::for_each(stream, 1, add_winners{count.data(), counter_.data()});
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
  slots_.release();
  bits_.release();
  if (best_) best_->release();
  is_words_ = false;
  limit_ = tail_;
}

std::vector<const word*> device_relation::host_columns() {
  if (host_.empty()) {
    host_.resize(arity_);
    for (std::uint32_t c = 0; c < arity_ && rows_ != 0; ++c) {
      host_[c] = std::make_unique_for_overwrite<word[]>(rows_);
      backend::gpu::download(*context_, columns_[c].data(), host_[c].get(), rows_);
    }
  }
  std::vector<const word*> pointers;
  for (const auto& column : host_) pointers.push_back(column.get());
  return pointers;
}

void device_relation::adopt(const std::vector<const word*>& host_columns, std::uint64_t rows) {
  drop_set();
  for (std::uint32_t c = 0; c < arity_ && rows != 0; ++c) {
    columns_[c] = array<word>(*resource_, rows, backend::fresh_memory::anything);
    context_->staging().upload(host_columns[c], columns_[c].data(), rows * sizeof(word));
  }
  count_rows(rows);
}

}  // namespace gpulog::storage::gpu
