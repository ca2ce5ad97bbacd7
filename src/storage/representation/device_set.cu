#include "storage/representation/device_set.hpp"

#include <algorithm>
#include <utility>

#include "backend/gpu/for_each.hpp"
#include "backend/gpu/wave.hpp"
#include "storage/calibration.hpp"
#include "storage/sets/packed_slots.cuh"

namespace gpulog::storage::gpu {

namespace {

/// Inserts a slot's content that no thread offers twice.
__device__ inline void place_new(std::uint64_t* slots, std::uint64_t capacity, std::uint64_t hash, std::uint64_t slot) {
  std::uint64_t at = scale(hash, capacity);
  while (atomicCAS(reinterpret_cast<unsigned long long*>(slots + at), 0ULL, slot) != 0)
    at = at + 1 == capacity ? 0 : at + 1;
}
/// Moves a slot to a larger table. Places grow with the hash, so both tables are accessed sequentially.
/// @tparam KeyShift number of bits below the key in a slot: 0 for tuples, packed_word::bits for words
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
struct insert_row {
  set_view set;
  __device__ void operator()(std::uint64_t row) const {
    insert_packed(set, set_view::packed(set.arity, row_values{set.columns, row}));
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
    const std::uint64_t hash = set.tuple_hash(row_values{set.columns, row});
    const std::uint64_t entry = (hash << row_bits) | (row + 1);
    std::uint64_t at = scale(hash, set.capacity);
    while (atomicCAS(reinterpret_cast<unsigned long long*>(set.slots + at), 0ULL, entry) != 0) {
      at = at + 1 == set.capacity ? 0 : at + 1;
    }
  }
};

std::uint64_t small_matrix_bytes(const backend::gpu::device_context& context) {
  const double rate = context.properties().bytes_per_second;
  return rate > 0 ? static_cast<std::uint64_t>(rate * calibration::clearing_seconds)
                  : calibration::small_matrix_bytes_of_unknown_devices;
}

[[nodiscard]] bool is_packed(const set_view& rows) { return rows.arity <= 2; }

}  // namespace

device_set::device_set(const backend::gpu::device_context& context, memory_resource& resource, set_choice sets)
    : context_(&context),
      resource_(&resource),
      sets_(sets),
      bits_(resource),
      slots_(resource),
      has_zero_(resource, 1) {}

void device_set::show(set_view& view) const {
  view.slots = const_cast<std::uint64_t*>(slots_.data());
  view.capacity = slots_.size();
  view.has_zero = const_cast<std::uint32_t*>(has_zero_.data());
  if (bits_.size() != 0) {
    view.bits = const_cast<std::uint32_t*>(bits_.data());
    view.capacity = bits_.size();
    view.stride = bounds_->stride * 2;
  }
  if (is_words_) view.words_per_row = packed_word::stride(*bounds_);
}

void device_set::release() {
  slots_.release();
  bits_.release();
  is_words_ = false;
}

bool device_set::bound_values(const set_view& rows, std::uint64_t n, const std::vector<std::uint64_t>& bounds,
                              std::uint64_t memory) {
  // An earlier form of the stratum has already chosen a set for these values.
  if (bits_.size() != 0 || is_words_) return false;
  if (sets_ == set_choice::hash || rows.arity == 0 || !is_packed(rows)) return false;
  bounds_ = bit_matrix_shape::of(bounds);
  memory_ = memory;
  if (sets_ == set_choice::words) {
    return packed_word::can_hold(*bounds_) &&
           become_words(rows, n, std::max(slots_.size(), calibration::least_slots), false);
  }
  if (sets_ == set_choice::bits || bounds_->bytes() <= std::max(small_matrix_bytes(*context_), slots_.bytes())) {
    become_bits(rows, n, false);
  }
  return false;
}

/// @return whether a matrix fits into memory
bool device_set::become_bits(const set_view& rows, std::uint64_t n, bool keep) {
  if (bounds_->bytes() > largest_matrix(sets_, memory_, resource_->used())) return false;
  try {
    bits_ = array<std::uint32_t>(*resource_, bounds_->rows * bounds_->stride * 2);
  } catch (const backend::memory_exceeded&) {
    memory_ = 0;
    return false;
  }
  insert_rows(rows, n);
  if (keep) outgrown_.push_back(std::move(slots_));
  slots_ = array<std::uint64_t>(*resource_);
  is_words_ = false;
  return true;
}

/// Replaces the tuples by a table of words.
/// @return whether the table fits into memory and enough tuples share a word
bool device_set::become_words(const set_view& rows, std::uint64_t n, std::uint64_t slots, bool keep) {
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
  insert_rows(rows, n);
  if (sets_ == set_choice::automatic && n < calibration::tuples_per_word * used_slots()) {
    slots_.swap(tuples);
    is_words_ = false;
    few_share_words_ = true;
    return false;
  }
  if (keep) outgrown_.push_back(std::move(tuples));
  return true;
}

std::uint64_t device_set::used_slots() const {
  array<std::uint64_t> count(*resource_, 1);
  backend::gpu::launch(GPULOG_KERNEL(count_used_kernel),
                       {backend::gpu::blocks_for(slots_.size()), backend::gpu::for_each_threads, 0, context_->stream()},
                       slots_.data(), slots_.size(), count.data());
  return context_->read_counter(count.data());
}

/// Makes space for `extra` more tuples, each of which may need a slot.
/// @return the number of tuples that fit
std::uint64_t device_set::make_word_room(std::uint64_t extra, bool keep) {
  const std::uint64_t used = used_slots();
  // Counting takes time and should not happen for a few tuples.
  const std::uint64_t wanted = used + std::max(extra, slots_.size() / 16);
  std::uint64_t capacity = slots_.size();
  while (capacity / slots_per_row < wanted) capacity *= capacity < calibration::fast_growth_slots ? 4 : 2;
  if (capacity != slots_.size()) {
    array<std::uint64_t> smaller(*resource_, capacity);
    smaller.swap(slots_);
    backend::gpu::for_each(context_->stream(), smaller.size(),
                           rehash_slot<packed_word::bits>{smaller.data(), slots_.data(), capacity});
    if (keep) outgrown_.push_back(std::move(smaller));
  }
  return capacity / slots_per_row - used;
}

std::uint64_t device_set::extend(const set_view& rows, std::uint64_t n, std::uint64_t limit, std::uint64_t extra,
                                 bool keep) {
  const std::uint64_t slots = limit * slots_per_row;
  const bool may_change = bounds_ && sets_ != set_choice::words;
  if (bits_.size() == 0 && may_change &&
      bounds_->bytes() / calibration::matrix_per_hash <= slots * sizeof(std::uint64_t)) {
    become_bits(rows, n, keep);
  }
  const bool may_be_words = bounds_ && sets_ == set_choice::automatic && !few_share_words_;
  if (bits_.size() == 0 && !is_words_ && may_be_words && n >= calibration::least_rows_of_words &&
      packed_word::can_hold(*bounds_)) {
    become_words(rows, n, limit, keep);
  }
  if (is_words_) return std::min(limit, n + make_word_room(extra, keep));
  if (bits_.size() == 0) rehash(rows, n, slots, keep);
  return limit;
}

void device_set::rehash(const set_view& rows, std::uint64_t n, std::uint64_t capacity, bool keep) {
  array<std::uint64_t> smaller(std::move(slots_));
  slots_ = array<std::uint64_t>(*resource_);
  try {
    slots_ = array<std::uint64_t>(*resource_, capacity);
  } catch (const backend::memory_exceeded&) {
    if (keep || smaller.size() == 0) {
      slots_.swap(smaller);
      throw;
    }
    const std::uint64_t before = smaller.size();
    smaller.release();  // the columns hold the same tuples
    try {
      slots_ = array<std::uint64_t>(*resource_, capacity);
    } catch (const backend::memory_exceeded&) {
      slots_ = array<std::uint64_t>(*resource_, before);
      insert_rows(rows, n);
      throw;
    }
  }
  if (smaller.size() == 0 || !is_packed(rows)) {
    insert_rows(rows, n);
  } else {
    backend::gpu::for_each(context_->stream(), smaller.size(), rehash_slot<0>{smaller.data(), slots_.data(), capacity});
  }
  if (keep) outgrown_.push_back(std::move(smaller));
}

void device_set::insert_rows(const set_view& rows, std::uint64_t n) {
  if (is_packed(rows)) {
    backend::gpu::for_each(context_->stream(), n, insert_row{over(rows)});
  } else {
    backend::gpu::for_each(context_->stream(), n, rehash_rows{over(rows)});
  }
}

}  // namespace gpulog::storage::gpu
