#include "exec/strategies/search/device_numbering.hpp"

#include <algorithm>

#include "backend/gpu/for_each.hpp"
#include "backend/gpu/primitives.hpp"

namespace gpulog::exec {

namespace {

using backend::array;
using backend::fresh_memory;

/// Claims a slot for the row of a tuple by compare-and-swap: the first row represents all equal rows.
struct claim_slot {
  tuple_columns tuples;
  std::uint32_t* slots;  // row + 1
  std::uint64_t size;
  std::uint32_t* is_first;  // by row
  __device__ void operator()(std::uint64_t row) const {
    for (std::uint64_t at = storage::scale(tuples.hash(row), size);; at = at + 1 == size ? 0 : at + 1) {
      std::uint32_t slot = *static_cast<volatile std::uint32_t*>(slots + at);
      if (slot == 0) slot = atomicCAS(slots + at, 0U, static_cast<std::uint32_t>(row + 1));
      if (slot == 0) {
        is_first[row] = 1;
        return;
      }
      if (tuples.is_equal(slot - 1, tuples, row)) return;
    }
  }
};
struct keep_first {
  tuple_columns tuples;
  const std::uint32_t* numbers;  // by row, with one extra entry
  word* values;                  // [column][stride]
  std::uint64_t stride;
  __device__ void operator()(std::uint64_t row) const {
    const std::uint32_t number = numbers[row];
    if (numbers[row + 1] == number) return;
    for (std::uint32_t c = 0; c < tuples.arity; ++c) values[c * stride + number] = tuples.at[c][row];
  }
};
struct rename_slot {
  std::uint32_t* slots;
  const std::uint32_t* numbers;  // by row
  __device__ void operator()(std::uint64_t at) const {
    if (slots[at] != 0) slots[at] = numbers[slots[at] - 1] + 1;
  }
};
struct tuple_at {
  const tuple_columns& columns;
  std::uint64_t row;
  GPULOG_HOST_DEVICE word operator[](std::uint32_t column) const { return columns.at[column][row]; }
};
struct find_tuple {
  storage::gpu::numbered_columns numbering;
  tuple_columns searched;
  std::uint32_t first;
  std::uint32_t* numbers;
  __device__ void operator()(std::uint64_t i) const {
    const std::uint32_t number = numbering.find(tuple_at{searched, i});
    numbers[i] = number == device_numbering::none ? number : first + number;
  }
};
/// Pairs of several parts, concatenated.
struct key_parts {
  static constexpr std::size_t most = 8;
  key_values at[most];
  std::uint64_t pairs = 0;

  struct pair {
    std::uint32_t key;  ///< a key, or none
    word value;
  };
  __device__ pair operator[](std::uint64_t i) const {
    std::size_t part = 0;
    for (; i >= at[part].pairs; ++part) i -= at[part].pairs;
    const std::uint32_t key = at[part].keys[i];
    if (key == device_numbering::none) return {key, 0};
    return {at[part].first + key, at[part].values[i]};
  }
};
struct count_key {
  key_parts parts;
  std::uint32_t* counts;
  __device__ void operator()(std::uint64_t i) const {
    const std::uint32_t key = parts[i].key;
    if (key != device_numbering::none) atomicAdd(counts + key, 1U);
  }
};
/// Fills lists from their ends, so that the counts are zero afterwards.
struct place_value {
  key_parts parts;
  const std::uint32_t* first;  // by key
  std::uint32_t* left;         // by key
  word* out;
  __device__ void operator()(std::uint64_t i) const {
    const key_parts::pair pair = parts[i];
    if (pair.key != device_numbering::none) out[first[pair.key] + atomicSub(left + pair.key, 1U) - 1] = pair.value;
  }
};

/// Groups the parts by launch.
std::vector<key_parts> parts_of_launches(const std::vector<key_values>& parts) {
  std::vector<key_parts> made;
  std::size_t used = key_parts::most;
  for (const key_values& part : parts) {
    if (part.pairs == 0) continue;
    if (used == key_parts::most) {
      made.emplace_back();
      used = 0;
    }
    made.back().at[used++] = part;
    made.back().pairs += part.pairs;
  }
  return made;
}

/// Returns the exclusive prefix sums.
array<std::uint32_t> sums(const backend::gpu::device_context& context, backend::memory_resource& resource,
                          const array<std::uint32_t>& counts) {
  array<std::uint32_t> result(resource, counts.size(), fresh_memory::anything);
  backend::gpu::with_scratch(resource, [&](void* scratch, std::size_t& bytes) {
    backend::gpu::exclusive_sum(scratch, bytes, counts.data(), result.data(), counts.size(), context.stream());
  });
  return result;
}

std::uint32_t read(const backend::gpu::device_context& context, const std::uint32_t* value) {
  std::uint32_t result = 0;
  context.read(value, &result, sizeof result);
  return result;
}

}  // namespace

device_numbering::device_numbering(const backend::gpu::device_context& context, backend::memory_resource& resource,
                                   const std::vector<tuple_rows>& parts)
    : context_(&context) {
  std::uint64_t rows = 0;
  for (const tuple_rows& part : parts) rows += part.rows;
  tuple_columns all = parts.front().columns;
  const std::uint32_t arity = all.arity;
  array<word> together(resource, parts.size() == 1 ? 0 : arity * rows, fresh_memory::anything);
  for (std::uint32_t c = 0; c < arity && parts.size() != 1; ++c) {
    word* out = together.data() + c * rows;
    all.at[c] = out;
    for (const tuple_rows& part : parts) {
      if (part.rows == 0) continue;
      backend::gpu::copy_async(out, part.columns.at[c], part.rows * sizeof(word),
                               backend::gpu::direction::device_to_device, context.stream());
      out += part.rows;
    }
  }
  slots_ = array<std::uint32_t>(resource, 2 * rows + 2);
  array<std::uint32_t> is_first(resource, rows + 1);
  backend::gpu::for_each(context.stream(), rows, claim_slot{all, slots_.data(), slots_.size(), is_first.data()});
  const array<std::uint32_t> numbers = sums(context, resource, is_first);
  size_ = read(context, numbers.data() + rows);
  values_ = array<word>(resource, arity * size_, fresh_memory::anything);
  backend::gpu::for_each(context.stream(), rows, keep_first{all, numbers.data(), values_.data(), size_});
  backend::gpu::for_each(context.stream(), slots_.size(), rename_slot{slots_.data(), numbers.data()});
  view_.slots = slots_.data();
  view_.size = slots_.size();
  view_.arity = arity;
  for (std::uint32_t c = 0; c < arity; ++c) {
    view_.columns[c] = c;
    view_.values[c] = values_.data() + c * size_;
  }
}

tuple_rows device_numbering::tuples() const {
  tuple_rows made{{.arity = view_.arity}, size_};
  std::copy_n(view_.values, view_.arity, made.columns.at);
  return made;
}

void device_numbering::find(const tuple_rows& searched, std::uint32_t first, std::uint32_t* numbers) const {
  backend::gpu::for_each(context_->stream(), searched.rows, find_tuple{view_, searched.columns, first, numbers});
}

storage::adjacency sort_by_key(const backend::gpu::device_context& context, backend::memory_resource& resource,
                               const std::vector<key_values>& parts, std::uint64_t numbers) {
  array<std::uint32_t> counts(resource, numbers + 1);
  const std::vector<key_parts> launches = parts_of_launches(parts);
  std::uint64_t pairs = 0;
  for (const key_parts& launched : launches) {
    pairs += launched.pairs;
    backend::gpu::for_each(context.stream(), launched.pairs, count_key{launched, counts.data()});
  }
  storage::adjacency made{sums(context, resource, counts), array<word>(resource, pairs, fresh_memory::anything)};
  for (const key_parts& launched : launches) {
    backend::gpu::for_each(context.stream(), launched.pairs,
                           place_value{launched, made.first.data(), counts.data(), made.all.data()});
  }
  return made;
}

}  // namespace gpulog::exec
