#include "storage/cuda/device_relation.hpp"

#include <thrust/iterator/counting_iterator.h>
#include <cub/device/device_radix_sort.cuh>
#include <cub/device/device_reduce.cuh>
#include <cub/device/device_scan.cuh>
#include <cub/device/device_select.cuh>

#include <algorithm>
#include <bit>
#include <utility>

#include "backend/cuda/error.hpp"
#include "backend/cuda/staging_ring.hpp"
#include "kernels/cuda/device_program.hpp"

namespace gpulog::storage::cuda {

using backend::fresh_memory;

namespace {

constexpr unsigned threads = 256;

unsigned blocks_for(std::uint64_t n) {
  return static_cast<unsigned>(std::clamp<std::uint64_t>((n + threads - 1) / threads, 1, 1u << 16));
}

__device__ std::uint64_t thread_number() { return static_cast<std::uint64_t>(blockIdx.x) * blockDim.x + threadIdx.x; }
__device__ std::uint64_t thread_count() { return static_cast<std::uint64_t>(gridDim.x) * blockDim.x; }

/// Runs a functor for every number below n.
template <class Function>
__global__ void for_each_kernel(std::uint64_t n, Function function) {
  for (std::uint64_t i = thread_number(); i < n; i += thread_count()) function(i);
}
template <class Function>
void for_each(cudaStream_t stream, std::uint64_t n, Function function) {
  if (n == 0) return;
  for_each_kernel<<<blocks_for(n), threads, 0, stream>>>(n, function);
  GPULOG_CUDA_TRY(cudaGetLastError());
}

/// The number of keys of a run with so few rows isn't asked for.
constexpr std::uint64_t unmeasured_rows = 1u << 16;
/// A key is looked up by its number where the numbers are at most so much sparser than the keys.
constexpr std::uint64_t direct_factor = 4;

std::uint64_t table_size_of(std::uint64_t keys, double load) {
  return static_cast<std::uint64_t>(static_cast<double>(keys) / load) + 2;
}

/// Calls a CUB function twice: for the size of its scratch memory, and with it.
template <class Call>
void with_scratch(memory_resource& resource, Call&& call) {
  std::size_t bytes = 0;
  GPULOG_CUDA_TRY(call(nullptr, bytes));
  array<std::uint8_t> scratch(resource, bytes + 1, fresh_memory::anything);
  GPULOG_CUDA_TRY(call(static_cast<void*>(scratch.data()), bytes));
}

struct gather_column {
  const word* column;
  const std::uint32_t* rows;
  word* out;
  __device__ void operator()(std::uint64_t i) const { out[i] = column[rows[i]]; }
};
struct number_rows {
  std::uint32_t* out;
  __device__ void operator()(std::uint64_t i) const { out[i] = static_cast<std::uint32_t>(i); }
};

/// Key columns of sorted rows: [key column] -> column, by row number.
struct key_columns {
  static constexpr std::uint32_t most = 16;
  const word* columns[most];
  const std::uint32_t* rows;
  std::uint32_t length;
};
/// The first key word of the last row.
struct last_key {
  key_columns keys;
  std::uint64_t* out;
  std::uint64_t rows;
  __device__ void operator()(std::uint64_t) const { *out = keys.columns[0][keys.rows[rows - 1]]; }
};
struct starts_group {
  key_columns keys;
  const word* const* more;  // columns behind the first `most`
  __device__ bool operator()(std::uint32_t i) const {
    if (i == 0) return true;
    for (std::uint32_t c = 0; c < keys.length; ++c) {
      const word* const column = c < key_columns::most ? keys.columns[c] : more[c - key_columns::most];
      if (column[keys.rows[i]] != column[keys.rows[i - 1]]) return true;
    }
    return false;
  }
};
/// Keys of the groups that there are; behind the last group, first has the number of rows.
struct gather_keys {
  key_columns keys;
  const word* const* more;
  std::uint32_t* first;
  word* out;  // [key column][stride]
  std::uint64_t stride;
  std::uint64_t row_count;
  const std::uint64_t* groups;
  __device__ void operator()(std::uint64_t g) const {
    if (g == *groups) first[g] = static_cast<std::uint32_t>(row_count);
    if (g >= *groups) return;
    for (std::uint32_t c = 0; c < keys.length; ++c) {
      const word* const column = c < key_columns::most ? keys.columns[c] : more[c - key_columns::most];
      out[c * stride + g] = column[keys.rows[first[g]]];
    }
  }
};

/// Algorithm 2 over distinct keys: a slot is taken by compare-and-swap, and no position has to be lowered.
struct insert_key {
  const word* keys;
  const std::uint32_t* first;
  key_slot* table;
  std::uint64_t stride;
  const std::uint64_t* groups;
  std::uint64_t size;
  std::uint32_t length;
  __device__ void operator()(std::uint64_t g) const {
    if (g >= *groups) return;
    level_view level;
    level.length = length;
    const std::uint64_t code = level.code([&](std::uint32_t c) { return keys[c * stride + g]; });
    const std::uint64_t range = length <= 2 ? pack(first[g + 1] - first[g], first[g]) : pack(1, static_cast<word>(g));
    std::uint64_t at = scale(mix(code), size);
    while (atomicCAS(reinterpret_cast<unsigned long long*>(&table[at].range), 0ULL, range) != 0) {
      at = at + 1 == size ? 0 : at + 1;
    }
    table[at].code = code;
  }
};
struct fill_direct {
  const word* keys;
  const std::uint32_t* first;
  std::uint32_t* direct;
  std::uint64_t groups;
  std::uint64_t size;
  __device__ void operator()(std::uint64_t g) const {
    const std::uint64_t begin = g == 0 ? 0 : keys[g - 1] + 1ULL;
    const std::uint64_t end = g == groups ? size : keys[g] + 1ULL;
    for (std::uint64_t k = begin; k < end; ++k) direct[k] = first[g];
  }
};

struct row_key {
  word* const* columns;
  std::uint64_t row;
  __device__ word operator()(std::uint32_t c) const { return columns[c][row]; }
};
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
    std::uint64_t at = scale(mix(key), capacity);
    while (atomicCAS(reinterpret_cast<unsigned long long*>(slots + at), 0ULL, key) != 0)
      at = at + 1 == capacity ? 0 : at + 1;
  }
};
/// Moves a slot to a larger table. As places grow with the hash, tables are read and written from front to back.
struct rehash_packed {
  const std::uint64_t* from;
  std::uint64_t* slots;
  std::uint64_t capacity;
  __device__ void operator()(std::uint64_t slot) const {
    const std::uint64_t key = from[slot];
    if (key == 0) return;
    std::uint64_t at = scale(mix(key), capacity);
    while (atomicCAS(reinterpret_cast<unsigned long long*>(slots + at), 0ULL, key) != 0)
      at = at + 1 == capacity ? 0 : at + 1;
  }
};
struct set_bit {
  set_view set;
  __device__ void operator()(std::uint64_t row) const {
    const std::uint64_t key = set_view::packed(set.arity, row_key{set.columns, row});
    atomicOr(set.bits + set.bit_word(key), set_view::bit_mask(key));
  }
};
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

}  // namespace

void device_run::build(const backend::cuda::device_context& context, memory_resource& resource,
                       const column_pointers& columns, std::uint64_t begin, std::uint64_t end) {
  begin_ = begin;
  end_ = end;
  const std::uint64_t n = end - begin;
  if (build_small(resource, columns)) return;
  const auto items = static_cast<std::int64_t>(n);
  cudaStream_t stream = context.stream();
  array<std::uint32_t> rows(resource, n, fresh_memory::anything);
  array<std::uint32_t> other_rows(resource, n, fresh_memory::anything);
  array<word> keys(resource, n, fresh_memory::anything);
  array<word> other_keys(resource, n, fresh_memory::anything);
  for_each(stream, n, number_rows{rows.data()});
  // Algorithm 1: a stable sort from the last key column to the first.
  for (std::uint32_t c = layout_->sorted_columns(); c-- > 0;) {
    for_each(stream, n, gather_column{columns[layout_->order[c]] + begin, rows.data(), keys.data()});
    with_scratch(resource, [&](void* scratch, std::size_t& bytes) {
      return cub::DeviceRadixSort::SortPairs(scratch, bytes, keys.data(), other_keys.data(), rows.data(),
                                             other_rows.data(), items, 0, 32, stream);
    });
    rows.swap(other_rows);
  }
  for (std::size_t l = 0; l < levels_.size(); ++l) build_level(context, resource, columns, rows.data(), l);
  stored_ = array<word>(resource, n * layout_->stored.size(), fresh_memory::anything);
  for (std::size_t s = 0; s < layout_->stored.size(); ++s) {
    for_each(stream, n, gather_column{columns[layout_->stored[s]] + begin, rows.data(), stored_.data() + s * n});
  }
}

bool device_run::build_small(memory_resource& resource, const column_pointers& columns) {
  const auto n = static_cast<std::uint32_t>(std::min<std::uint64_t>(rows(), UINT32_MAX));
  if (small_ == nullptr || n > small_run::most_rows || layout_->sorted_columns() > small_run::most_columns ||
      layout_->stored.size() > small_run::most_columns || levels_.size() > small_run::most_levels) {
    return false;
  }
  stored_ = array<word>(resource, n * layout_->stored.size(), fresh_memory::anything);
  small_run made{};
  made.rows = n;
  made.sorted_columns = layout_->sorted_columns();
  for (std::uint32_t c = 0; c < made.sorted_columns; ++c) made.order[c] = columns[layout_->order[c]] + begin_;
  made.stored_columns = static_cast<std::uint32_t>(layout_->stored.size());
  for (std::uint32_t s = 0; s < made.stored_columns; ++s) made.copied[s] = columns[layout_->stored[s]] + begin_;
  made.stored = stored_.data();
  made.level_count = static_cast<std::uint32_t>(levels_.size());
  for (std::size_t l = 0; l < levels_.size(); ++l) {
    level& one = levels_[l];
    const std::uint32_t length = layout_->key_lengths[l];
    one.groups = n;
    one.count = array<std::uint64_t>(resource, 1, fresh_memory::anything);
    one.first = array<std::uint32_t>(resource, n + 1ULL, fresh_memory::anything);
    one.keys = array<word>(resource, static_cast<std::uint64_t>(n) * length, fresh_memory::anything);
    one.table = array<key_slot>(resource, table_size_of(n, layout_->load), fresh_memory::anything);
    made.levels[l] = {length, one.table.data(), one.table.size(), one.first.data(), one.keys.data(), one.count.data()};
  }
  small_->add(made);
  collection_ = small_->collection();
  return true;
}

void device_run::flush_small_runs(small_run_builder& small) noexcept {
  try {
    small.flush();
  } catch (...) {  // NOLINT: a stream that failed says so at the next call
  }
}

void device_run::build_level(const backend::cuda::device_context& context, memory_resource& resource,
                             const column_pointers& columns, const std::uint32_t* rows, std::size_t number) {
  level& made = levels_[number];
  const std::uint64_t n = end_ - begin_;
  cudaStream_t stream = context.stream();
  const std::uint32_t length = layout_->key_lengths[number];
  key_columns sorted{};
  sorted.rows = rows;
  sorted.length = length;
  for (std::uint32_t c = 0; c < std::min(length, key_columns::most); ++c)
    sorted.columns[c] = columns[layout_->order[c]] + begin_;
  array<const word*> more(resource);
  if (length > key_columns::most) {
    std::vector<const word*> rest;
    for (std::uint32_t c = key_columns::most; c < length; ++c) rest.push_back(columns[layout_->order[c]] + begin_);
    more.resize(rest.size());
    GPULOG_CUDA_TRY(
        cudaMemcpyAsync(more.data(), rest.data(), rest.size() * sizeof(rest[0]), cudaMemcpyHostToDevice, stream));
    context.synchronize();  // rest is about to go
  }
  made.count = array<std::uint64_t>(resource, 2, fresh_memory::anything);
  array<std::uint64_t>& count = made.count;
  made.first = array<std::uint32_t>(resource, n + 1, fresh_memory::anything);
  with_scratch(resource, [&](void* scratch, std::size_t& bytes) {
    return cub::DeviceSelect::If(scratch, bytes, thrust::counting_iterator<std::uint32_t>(0), made.first.data(),
                                 count.data(), static_cast<std::int64_t>(n), starts_group{sorted, more.data()}, stream);
  });
  // Small runs, most of which are a delta's, are sized for as many keys as rows: asking for the true number costs more
  // than what is saved.
  made.groups = n;
  word largest = UINT32_MAX;
  if (n > unmeasured_rows) {
    for_each(stream, 1, last_key{sorted, count.data() + 1, n});
    const auto [groups, last] = context.read_pair(count.data());
    made.groups = groups;
    if (length == 1) largest = static_cast<word>(last);
    array<std::uint32_t> exact(resource, made.groups + 1, fresh_memory::anything);
    GPULOG_CUDA_TRY(cudaMemcpyAsync(exact.data(), made.first.data(), made.groups * sizeof(std::uint32_t),
                                    cudaMemcpyDeviceToDevice, stream));
    made.first = std::move(exact);
  }
  made.keys = array<word>(resource, made.groups * length, fresh_memory::anything);
  for_each(stream, made.groups + 1,
           gather_keys{sorted, more.data(), made.first.data(), made.keys.data(), made.groups, n, count.data()});
  if (largest < direct_factor * made.groups) {
    made.direct = array<std::uint32_t>(resource, largest + 2ULL, fresh_memory::anything);
    for_each(stream, made.groups + 1,
             fill_direct{made.keys.data(), made.first.data(), made.direct.data(), made.groups, largest + 2ULL});
  } else {
    made.table.resize(table_size_of(made.groups, layout_->load));
    for_each(stream, made.groups,
             insert_key{made.keys.data(), made.first.data(), made.table.data(), made.groups, count.data(),
                        made.table.size(), length});
  }
}

run_view device_run::view(std::size_t number) const {
  const level& shown = levels_[number];
  run_view view;
  view.direct = shown.direct.data();
  view.direct_size = shown.direct.size();
  view.stored = stored_.data();
  view.rows = rows();
  const std::uint32_t length = layout_->key_lengths[number];
  view.level = {
      shown.table.data(), shown.table.size(), shown.first.data(), shown.keys.data(), shown.groups, shown.groups, length,
      length <= 2};
  return view;
}

std::uint64_t device_run::bytes() const {
  std::uint64_t sum = stored_.bytes();
  for (const level& one : levels_) sum += one.bytes();
  return sum;
}

device_index::run_pointer device_index::make_run(const backend::cuda::device_context& context,
                                                 const column_pointers& columns, std::uint64_t begin,
                                                 std::uint64_t end) {
  auto run = std::make_unique<device_run>(*resource_, layout_, small_);
  run->build(context, *resource_, columns, begin, end);
  return run;
}

void device_index::refresh(const backend::cuda::device_context& context, const column_pointers& columns,
                           std::uint64_t old_rows, std::uint64_t rows) {
  if (indexed_ == rows && delta_begin_ == old_rows) return;
  constexpr std::uint64_t merge_factor = 3;
  constexpr std::uint64_t most_rows = 1ULL << 31;  // positions in a run have 32 bits
  const auto fold = [&](run_pointer run) {
    // Which elders it swallows is known before anything is sorted.
    std::uint64_t begin = run->begin();
    const std::uint64_t end = run->end();
    bool swallowed = false;
    while (!old_.empty()) {
      const device_run& elder = *old_.back();
      const bool small = elder.rows() < merge_factor * (end - begin);
      const bool crowded = old_.size() + 2 >= kernels::cuda::most_runs;
      if ((!small && !crowded) || elder.rows() + (end - begin) > most_rows) break;
      begin = elder.begin();
      old_.pop_back();
      swallowed = true;
    }
    if (swallowed) {
      run.reset();
      run = make_run(context, columns, begin, end);
    }
    old_.push_back(std::move(run));
  };
  for (auto& run : std::exchange(delta_, {})) fold(std::move(run));
  for (; indexed_ < old_rows; indexed_ = std::min(old_rows, indexed_ + most_rows)) {
    fold(make_run(context, columns, indexed_, std::min(old_rows, indexed_ + most_rows)));
  }
  for (; indexed_ < rows; indexed_ = std::min(rows, indexed_ + most_rows)) {
    delta_.push_back(make_run(context, columns, indexed_, std::min(rows, indexed_ + most_rows)));
  }
  delta_begin_ = old_rows;
}

std::vector<run_view> device_index::views(bool with_old, bool with_delta, std::size_t level) const {
  std::vector<run_view> views;
  if (with_old) {
    for (const auto& run : old_) views.push_back(run->view(level));
  }
  if (with_delta) {
    for (const auto& run : delta_) views.push_back(run->view(level));
  }
  return views;
}

std::uint64_t device_index::bytes() const {
  std::uint64_t sum = 0;
  for (const auto& run : delta_) sum += run->bytes();
  for (const auto& run : old_) sum += run->bytes();
  return sum;
}

namespace {
/// A set is at most half full: probes stay short, and duplicates dominate.
constexpr std::uint64_t slots_per_row = 2;
constexpr std::uint64_t initial_rows = 1u << 14;
/// Small relations grow faster, as every growth waits for the device.
constexpr std::uint64_t fast_growth_rows = 1u << 25;
/// A matrix that takes no longer to clear than a growth of a small set.
constexpr std::uint64_t small_matrix_bytes = 32u << 20;
/// A matrix that is at most so many times as large as a hash set takes its place: clearing it takes less time than what
/// probing costs more.
constexpr std::uint64_t matrix_per_hash = 32;
}  // namespace

device_relation::device_relation(const backend::cuda::device_context& context, memory_resource& resource,
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
  std::uint64_t sum = slots_.bytes() + bits_.bytes();
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
    view.stride = matrix_->stride * 2;
  }
  return view;
}

void device_relation::bound_values(const std::vector<std::uint64_t>& bounds, std::uint64_t memory) {
  if (sets_ == set_choice::hash || arity_ == 0 || !is_packed()) return;
  const bit_matrix_shape shape = bit_matrix_shape::of(bounds);
  if (shape.bytes() > memory) return;
  matrix_ = shape;
  if (sets_ == set_choice::bits || shape.bytes() <= std::max(small_matrix_bytes, slots_.bytes())) become_bits(false);
}

/// @return whether there was memory for a matrix
bool device_relation::become_bits(bool keep_set) {
  try {
    bits_ = array<std::uint32_t>(*resource_, matrix_->rows * matrix_->stride * 2);
  } catch (const backend::memory_exceeded&) {
    matrix_.reset();
    return false;
  }
  for_each(context_->stream(), tail_, set_bit{set()});
  if (keep_set) outgrown_slots_.push_back(std::move(slots_));
  slots_ = array<std::uint64_t>(*resource_);
  return true;
}

/// The set for that many rows.
void device_relation::extend_set(std::uint64_t limit, bool keep_set) {
  if (bits_.size() != 0) return;
  const std::uint64_t slots = limit * slots_per_row;
  const bool is_worth_it = matrix_ && matrix_->bytes() / matrix_per_hash <= slots * sizeof(std::uint64_t);
  if (is_worth_it && become_bits(keep_set)) return;
  rehash(slots, keep_set);
}

/// Whether set and columns of that many rows fit into memory beside those that are there.
bool device_relation::fits_beside(std::uint64_t rows) const {
  const std::uint64_t all = resource_->limit() != 0 ? resource_->limit() : context_->memory_bytes() / 10 * 9;
  const std::uint64_t slot_bytes = bits_.size() != 0 ? 0 : slots_per_row * sizeof(std::uint64_t);
  const std::uint64_t bytes = rows * (arity_ * sizeof(word) + slot_bytes);
  return bytes < all - std::min(all, resource_->used());
}

void device_relation::grow(std::uint64_t extra, bool keep_set) {
  if (arity_ == 0 || room() >= extra) return;
  std::uint64_t limit = std::max(limit_, initial_rows);
  while (limit - tail_ < extra) {
    if (limit < fast_growth_rows) {
      limit *= 4;
    } else {
      limit = fits_beside(2 * limit) ? 2 * limit : limit + limit / 2;
    }
  }
  for (auto& column : columns_) {
    array<word> larger(*resource_, limit, fresh_memory::anything);
    if (tail_ != 0) {
      GPULOG_CUDA_TRY(cudaMemcpyAsync(larger.data(), column.data(), tail_ * sizeof(word), cudaMemcpyDeviceToDevice,
                                      context_->stream()));
    }
    column.swap(larger);
    outgrown_columns_.push_back(std::move(larger));
  }
  show_columns();
  extend_set(limit, keep_set);
  limit_ = limit;
}

/// Kernels find the columns through a table.
void device_relation::show_columns() {
  std::vector<word*> pointers;
  for (auto& column : columns_) pointers.push_back(column.data());
  column_table_.resize(arity_);
  GPULOG_CUDA_TRY(cudaMemcpyAsync(column_table_.data(), pointers.data(), arity_ * sizeof(word*), cudaMemcpyHostToDevice,
                                  context_->stream()));
  context_->synchronize();  // pointers is about to go
}

void device_relation::count_rows(std::uint64_t rows) {
  const append_counter counted = {rows, rows};
  GPULOG_CUDA_TRY(
      cudaMemcpyAsync(counter_.data(), &counted, sizeof counted, cudaMemcpyHostToDevice, context_->stream()));
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
  extend_set(limit_, false);
}

void device_relation::rehash(std::uint64_t capacity, bool keep_set) {
  array<std::uint64_t> smaller(std::move(slots_));
  slots_ = array<std::uint64_t>(*resource_);
  try {
    slots_ = array<std::uint64_t>(*resource_, capacity);
  } catch (const backend::memory_exceeded&) {
    if (keep_set) throw;
    smaller.release();  // the columns have all that it had
    slots_ = array<std::uint64_t>(*resource_, capacity);
  }
  cudaStream_t stream = context_->stream();
  if (!is_packed()) {
    for_each(stream, tail_, rehash_rows{set()});
  } else if (smaller.size() != 0) {
    for_each(stream, smaller.size(), rehash_packed{smaller.data(), slots_.data(), capacity});
  } else {
    for_each(stream, tail_, hash_packed{column_table_.data(), arity_, slots_.data(), capacity, has_zero_.data()});
  }
  if (keep_set) outgrown_slots_.push_back(std::move(smaller));
}

void device_relation::read_tail() {
  if (!tail_is_bound_) return;
  set_tail(context_->read_counter(&counter_.data()->tail));
  tail_is_bound_ = false;
}

void device_relation::insert_rows(const word* const* device_columns, std::uint64_t n) {
  cudaStream_t stream = context_->stream();
  array<std::uint64_t> slot_of(*resource_, n, fresh_memory::anything);
  array<std::uint32_t> winners(*resource_, n, fresh_memory::anything);
  array<std::uint64_t> count(*resource_, 1);
  for_each(stream, n, offer_candidate{set(), device_columns, slot_of.data()});
  with_scratch(*resource_, [&](void* scratch, std::size_t& bytes) {
    return cub::DeviceSelect::If(scratch, bytes, thrust::counting_iterator<std::uint32_t>(0), winners.data(),
                                 count.data(), static_cast<std::int64_t>(n), is_winner{slot_of.data()}, stream);
  });
  for_each(stream, n, give_row{set(), device_columns, slot_of.data(), winners.data(), count.data(), counter_.data()});
  for_each(stream, 1, add_winners{count.data(), counter_.data()});
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
  limit_ = tail_;
}

std::vector<const word*> device_relation::host_columns() {
  if (host_.empty()) {
    host_.resize(arity_);
    for (std::uint32_t c = 0; c < arity_ && rows_ != 0; ++c) {
      host_[c] = std::make_unique_for_overwrite<word[]>(rows_);
      backend::cuda::download(*context_, columns_[c].data(), host_[c].get(), rows_);
    }
  }
  std::vector<const word*> pointers;
  for (const auto& column : host_) pointers.push_back(column.get());
  return pointers;
}

void device_relation::adopt(const std::vector<const word*>& host_columns, std::uint64_t rows) {
  drop_set();
  for (std::uint32_t c = 0; c < arity_ && rows != 0; ++c) {
    columns_[c] = array<word>(*resource_, rows, fresh_memory::anything);
    context_->staging().upload(host_columns[c], columns_[c].data(), rows * sizeof(word));
  }
  count_rows(rows);
}

}  // namespace gpulog::storage::cuda
