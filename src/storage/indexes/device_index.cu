// Indexes of device_relation: sorted runs, and sequences of runs.

#include <algorithm>
#include <utility>

#include "backend/gpu/for_each.hpp"
#include "backend/gpu/primitives_by_functor.hpp"
#include "storage/calibration.hpp"
#include "storage/indexes/run_policy.hpp"
#include "storage/relation/device_relation.hpp"

namespace gpulog::storage::gpu {

namespace {

std::uint64_t table_size_of(std::uint64_t keys, double load) {
  return static_cast<std::uint64_t>(static_cast<double>(keys) / load) + 2;
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
/// Reads the first key word of the last row.
struct last_key {
  key_columns keys;
  std::uint64_t* out;
  std::uint64_t rows;
  __device__ void operator()(std::uint64_t) const { *out = keys.columns[0][keys.rows[rows - 1]]; }
};
struct starts_group {
  key_columns keys;
  const word* const* more;  // columns after the first `most`
  __device__ bool operator()(std::uint32_t i) const {
    if (i == 0) return true;
    for (std::uint32_t c = 0; c < keys.length; ++c) {
      const word* const column = c < key_columns::most ? keys.columns[c] : more[c - key_columns::most];
      if (column[keys.rows[i]] != column[keys.rows[i - 1]]) return true;
    }
    return false;
  }
};
/// Stores the keys of existing groups; after the last group, `first` holds the number of rows.
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

/// Algorithm 2 over distinct keys: claims a slot by compare-and-swap; no position has to be lowered.
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

}  // namespace

void device_run::build(const backend::gpu::device_context& context, memory_resource& resource,
                       const column_pointers& columns, std::uint64_t begin, std::uint64_t end) {
  begin_ = begin;
  end_ = end;
  const std::uint64_t n = end - begin;
  if (build_small(resource, columns)) return;
  backend::gpu::stream_handle stream = context.stream();
  array<std::uint32_t> rows(resource, n, backend::fresh_memory::anything);
  array<std::uint32_t> other_rows(resource, n, backend::fresh_memory::anything);
  array<word> keys(resource, n, backend::fresh_memory::anything);
  array<word> other_keys(resource, n, backend::fresh_memory::anything);
  backend::gpu::for_each(stream, n, number_rows{rows.data()});
  // Algorithm 1: a stable sort from the last key column to the first.
  for (std::uint32_t c = layout_->sorted_columns(); c-- > 0;) {
    backend::gpu::for_each(stream, n, gather_column{columns[layout_->order[c]] + begin, rows.data(), keys.data()});
    backend::gpu::double_buffer<word> key_buffers{keys.data(), other_keys.data()};
    backend::gpu::double_buffer<std::uint32_t> row_buffers{rows.data(), other_rows.data()};
    backend::gpu::with_scratch(resource, [&](void* scratch, std::size_t& bytes) {
      backend::gpu::sort_pairs(scratch, bytes, key_buffers, row_buffers, n, 0, word_bits, stream);
    });
    if (row_buffers.current != rows.data()) rows.swap(other_rows);
  }
  for (std::size_t l = 0; l < levels_.size(); ++l) build_level(context, resource, columns, rows.data(), l);
  stored_ = array<word>(resource, n * layout_->stored.size(), backend::fresh_memory::anything);
  for (std::size_t s = 0; s < layout_->stored.size(); ++s) {
    backend::gpu::for_each(stream, n,
                           gather_column{columns[layout_->stored[s]] + begin, rows.data(), stored_.data() + s * n});
  }
}

void device_run::build_unsorted(const backend::gpu::device_context& context, memory_resource& resource,
                                const column_pointers& columns, std::uint64_t begin, std::uint64_t end,
                                const std::vector<std::uint64_t>& bounds) {
  begin_ = begin;
  end_ = end;
  if (!count_rows(resource, columns, bounds)) build(context, resource, columns, begin, end);
}

/// Hands the run over to the builder, once per level, if the builder supports keys of this layout.
/// @return whether the builder took the run
bool device_run::count_rows(memory_resource& resource, const column_pointers& columns,
                            const std::vector<std::uint64_t>& bounds) {
  if (small_ == nullptr || levels_.empty()) return false;
  for (const std::uint32_t key_length : layout_->key_lengths) {
    if (!counted_run::supports(rows(), key_length, static_cast<std::uint32_t>(layout_->stored.size()))) return false;
    if (!has_few_numbers(key_length, bounds) && rows() > calibration::most_table_rows) return false;
  }
  for (std::size_t l = 0; l < levels_.size(); ++l) {
    counted_run run{};
    run.rows = rows();
    run.key_length = layout_->key_lengths[l];
    level& one = levels_[l];
    if (has_few_numbers(run.key_length, bounds)) {
      one.numbered = array<std::uint64_t>(resource, bounds[layout_->order[0]], backend::fresh_memory::anything);
      run.numbered = one.numbered.data();
      run.number_count = one.numbered.size();
    } else {
      one.table = array<key_slot>(resource, table_size_of(rows(), layout_->load), backend::fresh_memory::anything);
      run.table = one.table.data();
      run.table_size = one.table.size();
    }
    one.groups = rows();
    one.has_key_per_row = counted_run::is_hashed(run.key_length);
    for (std::uint32_t c = 0; c < run.key_length; ++c) run.keys[c] = columns[layout_->order[c]] + begin_;
    for (const std::uint32_t column : layout_->stored) run.copied[run.stored_columns++] = columns[column] + begin_;
    for (std::uint32_t c = 0; one.has_key_per_row && c < run.key_length; ++c) {
      run.copied[run.stored_columns++] = run.keys[c];
    }
    one.stored = array<word>(resource, rows() * run.stored_columns, backend::fresh_memory::anything);
    run.stored = one.stored.data();
    small_->add(run, array<std::uint32_t>(resource, counted_scratch_words(rows()), backend::fresh_memory::anything));
  }
  collection_ = small_->collection();
  return true;
}

/// Returns whether a key is found by its number: its bound is known, and little larger than the number of rows.
bool device_run::has_few_numbers(std::uint32_t key_length, const std::vector<std::uint64_t>& bounds) const {
  return key_length == 1 && !bounds.empty() && bounds[layout_->order[0]] <= calibration::direct_factor * rows();
}

bool device_run::build_small(memory_resource& resource, const column_pointers& columns) {
  const auto n = static_cast<std::uint32_t>(std::min<std::uint64_t>(rows(), UINT32_MAX));
  if (small_ == nullptr || n > small_run::most_rows || layout_->sorted_columns() > small_run::most_columns ||
      layout_->stored.size() > small_run::most_columns || levels_.size() > small_run::most_levels) {
    return false;
  }
  stored_ = array<word>(resource, n * layout_->stored.size(), backend::fresh_memory::anything);
  small_run run{};
  run.rows = n;
  run.sorted_columns = layout_->sorted_columns();
  for (std::uint32_t c = 0; c < run.sorted_columns; ++c) run.order[c] = columns[layout_->order[c]] + begin_;
  run.stored_columns = static_cast<std::uint32_t>(layout_->stored.size());
  for (std::uint32_t s = 0; s < run.stored_columns; ++s) run.copied[s] = columns[layout_->stored[s]] + begin_;
  run.stored = stored_.data();
  run.level_count = static_cast<std::uint32_t>(levels_.size());
  for (std::size_t l = 0; l < levels_.size(); ++l) {
    level& one = levels_[l];
    const std::uint32_t length = layout_->key_lengths[l];
    one.groups = n;
    one.count = array<std::uint64_t>(resource, 1, backend::fresh_memory::anything);
    one.first = array<std::uint32_t>(resource, n + 1ULL, backend::fresh_memory::anything);
    one.keys = array<word>(resource, static_cast<std::uint64_t>(n) * length, backend::fresh_memory::anything);
    one.table = array<key_slot>(resource, table_size_of(n, layout_->load), backend::fresh_memory::anything);
    run.levels[l] = {length, one.table.data(), one.table.size(), one.first.data(), one.keys.data(), one.count.data()};
  }
  small_->add(run);
  collection_ = small_->collection();
  return true;
}

void device_run::flush_small_runs(small_run_builder& small) noexcept {
  try {
    small.flush();
  } catch (...) {  // NOLINT: a stream that failed says so at the next call
  }
}

void device_run::build_level(const backend::gpu::device_context& context, memory_resource& resource,
                             const column_pointers& columns, const std::uint32_t* rows, std::size_t number) {
  level& new_level = levels_[number];
  const std::uint64_t n = end_ - begin_;
  backend::gpu::stream_handle stream = context.stream();
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
    backend::gpu::copy_async(more.data(), rest.data(), rest.size() * sizeof(rest[0]),
                             backend::gpu::direction::host_to_device, stream);
    context.synchronize();  // `rest` goes out of scope
  }
  new_level.count = array<std::uint64_t>(resource, 2, backend::fresh_memory::anything);
  array<std::uint64_t>& count = new_level.count;
  new_level.first = array<std::uint32_t>(resource, n + 1, backend::fresh_memory::anything);
  backend::gpu::with_scratch(resource, [&](void* scratch, std::size_t& bytes) {
    backend::gpu::select_if(scratch, bytes, new_level.first.data(), count.data(), n, starts_group{sorted, more.data()},
                            stream);
  });
  // Small runs, mostly of deltas, reserve as many keys as rows: reading back the number of keys would cost more than
  // the saved space.
  new_level.groups = n;
  word largest = UINT32_MAX;
  if (n > calibration::unmeasured_rows) {
    backend::gpu::for_each(stream, 1, last_key{sorted, count.data() + 1, n});
    const auto [groups, last] = context.read_pair(count.data());
    new_level.groups = groups;
    if (length == 1) largest = static_cast<word>(last);
    array<std::uint32_t> exact(resource, new_level.groups + 1, backend::fresh_memory::anything);
    backend::gpu::copy_async(exact.data(), new_level.first.data(), new_level.groups * sizeof(std::uint32_t),
                             backend::gpu::direction::device_to_device, stream);
    new_level.first = std::move(exact);
  }
  new_level.keys = array<word>(resource, new_level.groups * length, backend::fresh_memory::anything);
  backend::gpu::for_each(stream, new_level.groups + 1,
                         gather_keys{sorted, more.data(), new_level.first.data(), new_level.keys.data(),
                                     new_level.groups, n, count.data()});
  if (largest < calibration::direct_factor * new_level.groups) {
    new_level.direct = array<std::uint32_t>(resource, largest + 2ULL, backend::fresh_memory::anything);
    backend::gpu::for_each(stream, new_level.groups + 1,
                           fill_direct{new_level.keys.data(), new_level.first.data(), new_level.direct.data(),
                                       new_level.groups, largest + 2ULL});
  } else {
    new_level.table.resize(table_size_of(new_level.groups, layout_->load));
    backend::gpu::for_each(stream, new_level.groups,
                           insert_key{new_level.keys.data(), new_level.first.data(), new_level.table.data(),
                                      new_level.groups, count.data(), new_level.table.size(), length});
  }
}

run_view device_run::view(std::size_t number) const {
  const level& shown = levels_[number];
  run_view view;
  view.direct = shown.direct.data();
  view.numbered = shown.numbered.data();
  view.direct_size = shown.numbered.size() != 0 ? shown.numbered.size() : shown.direct.size();
  view.stored = shown.stored.size() != 0 ? shown.stored.data() : stored_.data();
  view.rows = rows();
  const std::uint32_t length = layout_->key_lengths[number];
  const word* const keys = shown.has_key_per_row ? view.stored + layout_->stored.size() * rows() : shown.keys.data();
  view.level = {shown.table.data(),
                shown.table.size(),
                shown.first.data(),
                keys,
                shown.groups,
                shown.groups,
                length,
                length <= 2 || shown.has_key_per_row};
  return view;
}

std::uint64_t device_run::bytes() const {
  std::uint64_t sum = stored_.bytes();
  for (const level& one : levels_) sum += one.bytes();
  return sum;
}

device_index::run_pointer device_index::make_run(const backend::gpu::device_context& context, const source& from,
                                                 std::uint64_t begin, std::uint64_t end) {
  auto run = std::make_unique<device_run>(*resource_, layout_, small_);
  if (from.grows) {
    run->build_unsorted(context, *resource_, from.columns, begin, end, from.bounds);
  } else {
    run->build(context, *resource_, from.columns, begin, end);
  }
  return run;
}

void device_index::refresh(const backend::gpu::device_context& context, const column_pointers& columns,
                           std::uint64_t old_rows, std::uint64_t rows, const std::vector<std::uint64_t>& bounds) {
  if (indexed_ == rows && delta_begin_ == old_rows) return;
  constexpr std::uint64_t most_rows = 1ULL << 31;  // positions in a run have 32 bits
  // An index of a complete relation is built once, and may be read in order.
  const source from{columns, bounds, old_rows != rows || indexed_ != 0};
  const auto fold = [&](run_pointer run) {
    // Decide which older runs to merge before sorting anything.
    std::uint64_t begin = run->begin();
    const std::uint64_t end = run->end();
    bool swallowed = false;
    while (!old_.empty()) {
      const device_run& elder = *old_.back();
      const bool small = elder.rows() < calibration::merge_factor * (end - begin);
      const bool crowded = old_.size() + 2 >= calibration::most_device_runs;
      if ((!small && !crowded) || elder.rows() + (end - begin) > most_rows) break;
      begin = elder.begin();
      old_.pop_back();
      swallowed = true;
    }
    if (swallowed) {
      run.reset();
      run = make_run(context, from, begin, end);
    }
    old_.push_back(std::move(run));
  };
  if (old_rows < indexed_) {
    // Old rows became delta again. Runs are never split, so start over.
    old_.clear();
    delta_.clear();
    indexed_ = 0;
  }
  for (auto& run : std::exchange(delta_, {})) fold(std::move(run));
  for (; indexed_ < old_rows; indexed_ = std::min(old_rows, indexed_ + most_rows)) {
    fold(make_run(context, from, indexed_, std::min(old_rows, indexed_ + most_rows)));
  }
  for (; indexed_ < rows; indexed_ = std::min(rows, indexed_ + most_rows)) {
    delta_.push_back(make_run(context, from, indexed_, std::min(rows, indexed_ + most_rows)));
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

}  // namespace gpulog::storage::gpu
