#include "storage/representation/device_best.hpp"

#include <algorithm>
#include <utility>

#include "backend/gpu/for_each.hpp"
#include "backend/gpu/primitives_by_functor.hpp"
#include "storage/calibration.hpp"
#include "storage/relation/best_slots.cuh"

namespace gpulog::storage::gpu {

namespace {

/// Moves a slot to a larger table; each key is moved by exactly one thread.
struct move_slot {
  set_view from;
  set_view to;
  std::uint64_t* shown;
  __device__ void operator()(std::uint64_t place) const {
    const bool is_behind = place == from.capacity;
    if (!is_behind && from.slots[place] == set_view::free_key) return;
    const std::uint64_t at = is_behind ? to.capacity : claim_slot(to, from.slots[place]);
    to.best[at] = from.best[place];
    shown[at] = from.shown[place];
  }
};

struct publish_row {
  set_view set;
  std::uint64_t* shown;
  std::uint64_t* stale;
  std::uint64_t begin;
  __device__ void operator()(std::uint64_t i) const {
    const std::uint64_t row = begin + i;
    const std::uint64_t at = slot_of_key(set, best_key(set, row_values{set.columns, row}));
    const std::uint64_t rank = set.best[at];
    set.columns[set.value_column][row] = static_cast<word>(rank) ^ set.flip;
    if (shown[at] != set_view::no_rank) atomicAdd(reinterpret_cast<unsigned long long*>(stale), 1ULL);
    shown[at] = rank;
  }
};

struct is_tuple {
  set_view set;
  __device__ bool operator()(std::uint64_t row) const { return contains_best(set, row_values{set.columns, row}); }
};

}  // namespace

device_best::device_best(const backend::gpu::device_context& context, memory_resource& resource, std::uint32_t column,
                         word flip)
    : context_(&context),
      resource_(&resource),
      column_(column),
      flip_(flip),
      keys_(resource),
      best_(resource),
      shown_(resource),
      stale_(resource, 1) {}

/// All bits set means: no key, no rank.
array<std::uint64_t> device_best::filled(std::uint64_t size) const {
  array<std::uint64_t> made(*resource_, size, backend::fresh_memory::anything);
  backend::gpu::fill_async(made.data(), 0xff, size * sizeof(std::uint64_t), context_->stream());
  return made;
}

void device_best::show(set_view& view) const {
  view.slots = const_cast<std::uint64_t*>(keys_.data());
  view.capacity = capacity_;
  view.best = const_cast<std::uint64_t*>(best_.data());
  view.shown = shown_.data();
  view.flip = flip_;
  view.value_column = column_;
}

std::uint64_t device_best::extend(const set_view&, std::uint64_t, std::uint64_t limit, std::uint64_t, bool keep) {
  std::uint64_t capacity = std::max<std::uint64_t>(capacity_, 1024);
  while (capacity < limit * slots_per_key) capacity *= 2;
  if (capacity == capacity_) return limit;
  array<std::uint64_t> larger_keys = filled(capacity);
  array<std::uint64_t> larger_best = filled(capacity + 1);
  array<std::uint64_t> larger_shown = filled(capacity + 1);
  move_slot move{};
  show(move.from);
  const std::uint64_t slots = capacity_;
  keys_.swap(larger_keys);
  best_.swap(larger_best);
  shown_.swap(larger_shown);
  capacity_ = capacity;
  show(move.to);
  move.shown = shown_.data();
  if (slots != 0) backend::gpu::for_each(context_->stream(), slots + 1, move);
  if (keep) {
    outgrown_.push_back(std::move(larger_keys));
    outgrown_.push_back(std::move(larger_best));
    outgrown_.push_back(std::move(larger_shown));
  }
  return limit;
}

void device_best::release() {
  keys_.release();
  best_.release();
  shown_.release();
  capacity_ = 0;
}

void device_best::settle(const set_view& rows, std::uint64_t begin, std::uint64_t end) {
  backend::gpu::for_each(context_->stream(), end - begin, publish_row{rows, shown_.data(), stale_.data(), begin});
}

array<std::uint64_t> device_best::select_tuples(const set_view& set, std::uint64_t rows, std::uint64_t& selected) {
  array<std::uint64_t> found(*resource_, rows, backend::fresh_memory::anything);
  array<std::uint64_t> count(*resource_, 1);
  backend::gpu::with_scratch(*resource_, [&](void* scratch, std::size_t& bytes) {
    backend::gpu::select_if(scratch, bytes, found.data(), count.data(), rows, is_tuple{set}, context_->stream());
  });
  backend::gpu::fill_async(stale_.data(), 0, sizeof(std::uint64_t), context_->stream());
  selected = context_->read_counter(count.data());
  return found;
}

bool device_best::is_worth_compacting(std::uint64_t rows) const {
  return rows > std::max(calibration::least_compacted_rows, 2 * compacted_rows_);
}

}  // namespace gpulog::storage::gpu
