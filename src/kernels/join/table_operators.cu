#include "kernels/join/table_operators.hpp"

#include <algorithm>
#include <utility>

#include "backend/gpu/for_each.hpp"
#include "backend/gpu/primitives_by_functor.hpp"
#include "backend/gpu/wave.hpp"
#include "kernels/steps/ranges.hpp"
#include "storage/indexes/key_level.hpp"
#include "storage/sets/hash.hpp"

namespace gpulog::kernels::gpu {

namespace {

using backend::array;
using backend::fresh_memory;
using backend::gpu::device_context;

using backend::gpu::wave_size;

template <class Function>
void for_each(const device_context& context, std::uint64_t n, const Function& function) {
  backend::gpu::for_each(context.stream(), n, function);
}

template <class Predicate>
std::uint64_t select_rows(const device_context& context, backend::memory_resource& resource, std::uint64_t rows,
                          std::uint32_t* selected, Predicate predicate) {
  array<std::uint64_t> count(resource, 1);
  backend::gpu::with_scratch(resource, [&](void* scratch, std::size_t& bytes) {
    backend::gpu::select_if(scratch, bytes, selected, count.data(), rows, predicate, context.stream());
  });
  return context.read_counter(count.data());
}

/// Takes a slot for the row's group, or finds the row that has it. Columns are not written meanwhile.
struct find_representative {
  const word* const* columns;
  std::uint32_t count;
  std::uint32_t* slots;  // row + 1; 0: free
  std::uint64_t capacity;
  std::uint32_t* representatives;
  __device__ void operator()(std::uint64_t row) const {
    storage::key_hash hash;
    for (std::uint32_t c = 0; c < count; ++c) hash.add(columns[c][row]);
    for (std::uint64_t at = storage::scale(storage::mix(hash.value()), capacity);;
         at = at + 1 == capacity ? 0 : at + 1) {
      const std::uint32_t seen = atomicCAS(slots + at, 0U, static_cast<std::uint32_t>(row + 1));
      const std::uint32_t other = seen == 0 ? static_cast<std::uint32_t>(row) : seen - 1;
      bool same = true;
      for (std::uint32_t c = 0; c < count && same; ++c) same = columns[c][row] == columns[c][other];
      if (!same) continue;
      representatives[row] = other;
      return;
    }
  }
};
struct stands_for_itself {
  const std::uint32_t* representatives;
  __device__ bool operator()(std::uint32_t row) const { return representatives[row] == row; }
};
struct gather_row {
  const word* column;
  const std::uint32_t* rows;
  word* out;
  __device__ void operator()(std::uint64_t i) const { out[i] = column[rows[i]]; }
};

/// Words in the order of an operation's kind are compared as unsigned keys; the first key of all is lost by every
/// value.
__device__ word to_key(fold_op op, word value) {
  constexpr word sign = 0x80000000U;
  switch (op) {
    case fold_op::min_number:
    case fold_op::max_number:
      return value ^ sign;
    case fold_op::min_float:
    case fold_op::max_float:
      return (value & sign) != 0 ? ~value : value | sign;
    default:
      return value;
  }
}
__device__ word from_key(fold_op op, word key) {
  constexpr word sign = 0x80000000U;
  switch (op) {
    case fold_op::min_number:
    case fold_op::max_number:
      return key ^ sign;
    case fold_op::min_float:
    case fold_op::max_float:
      return (key & sign) != 0 ? key ^ sign : ~key;
    default:
      return key;
  }
}

__host__ __device__ bool is_minimum(fold_op op) {
  return op == fold_op::min_number || op == fold_op::min_unsigned || op == fold_op::min_float;
}
__host__ __device__ bool is_maximum(fold_op op) {
  return op == fold_op::max_number || op == fold_op::max_unsigned || op == fold_op::max_float;
}
__host__ __device__ bool has_sum(fold_op op) { return op == fold_op::sum_float || op == fold_op::mean; }

struct clear_cell {
  fold_op op;
  fold_cells cells;
  __device__ void operator()(std::uint64_t group) const {
    cells.counts[group] = 0;
    cells.words[group] = is_minimum(op) ? ~word{0} : 0;
    if (has_sum(op)) cells.sums[group] = 0;
  }
};

__device__ void add(std::uint64_t* cell, std::uint64_t value) {
  atomicAdd(reinterpret_cast<unsigned long long*>(cell), static_cast<unsigned long long>(value));
}

/// Neighbours mostly belong to one group: then the wave folds its values first, and one thread adds the result.
__global__ void add_to_fold_kernel(fold_op op, const word* owners, const word* values, std::uint64_t n,
                                   fold_cells cells) {
  const std::uint64_t stride = static_cast<std::uint64_t>(gridDim.x) * blockDim.x;
  const std::uint64_t end = (n + wave_size - 1) / wave_size * wave_size;  // waves stay whole
  for (std::uint64_t i = static_cast<std::uint64_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < end; i += stride) {
    const bool is_value = i < n;
    const word owner = is_value ? owners[i] : 0;
    const word value = is_value && values != nullptr ? values[i] : 0;
    const word first_owner = backend::gpu::shuffle(owner, 0);
    if (backend::gpu::all_lanes(is_value && owner == first_owner)) {
      const bool is_first = backend::gpu::lane() == 0;
      if (op == fold_op::count) {
        if (is_first) add(cells.counts + owner, wave_size);
      } else if (op == fold_op::sum_number) {
        const word sum = backend::gpu::sum_of_lanes(value);
        if (is_first) atomicAdd(cells.words + owner, sum);
      } else if (is_minimum(op)) {
        const word least = backend::gpu::least_of_lanes(to_key(op, value));
        if (is_first) {
          atomicMin(cells.words + owner, least);
          cells.counts[owner] = 1;
        }
      } else if (is_maximum(op)) {
        const word most = backend::gpu::greatest_of_lanes(to_key(op, value));
        if (is_first) {
          atomicMax(cells.words + owner, most);
          cells.counts[owner] = 1;
        }
      } else {
        double sum = static_cast<double>(as_float(value));
        for (unsigned distance = wave_size / 2; distance != 0; distance /= 2)
          sum += backend::gpu::shuffle_xor(sum, distance);
        if (is_first) {
          atomicAdd(cells.sums + owner, sum);
          add(cells.counts + owner, wave_size);
        }
      }
    } else if (is_value) {
      if (op == fold_op::count) {
        add(cells.counts + owner, 1);
      } else if (op == fold_op::sum_number) {
        atomicAdd(cells.words + owner, value);
      } else if (is_minimum(op)) {
        atomicMin(cells.words + owner, to_key(op, value));
        cells.counts[owner] = 1;
      } else if (is_maximum(op)) {
        atomicMax(cells.words + owner, to_key(op, value));
        cells.counts[owner] = 1;
      } else {
        atomicAdd(cells.sums + owner, static_cast<double>(as_float(value)));
        add(cells.counts + owner, 1);
      }
    }
  }
}

struct has_value {
  const std::uint64_t* counts;
  const std::uint32_t* representatives;
  __device__ bool operator()(std::uint32_t row) const {
    return counts[representatives == nullptr ? 0 : representatives[row]] != 0;
  }
};
struct take_value {
  fold_op op;
  fold_cells cells;
  const std::uint32_t* representatives;
  const std::uint32_t* kept;
  word* results;
  __device__ void operator()(std::uint64_t i) const {
    const std::uint64_t row = kept == nullptr ? i : kept[i];
    const std::uint64_t group = representatives == nullptr ? 0 : representatives[row];
    word value = 0;
    if (op == fold_op::count) {
      value = static_cast<word>(cells.counts[group]);
    } else if (op == fold_op::sum_float) {
      value = from_float(static_cast<float>(cells.sums[group]));
    } else if (op == fold_op::mean) {
      value = from_float(static_cast<float>(cells.sums[group] / static_cast<double>(cells.counts[group])));
    } else {
      value = op == fold_op::sum_number ? cells.words[group] : from_key(op, cells.words[group]);
    }
    results[i] = value;
  }
};

__device__ word value_at(const row_value& value, std::uint64_t row) {
  return value.column == nullptr ? value.constant : value.column[row];
}
__device__ word step_at(const range_rows& ranges, std::uint64_t row) {
  if (ranges.has_step) return value_at(ranges.step, row);
  return default_step(ranges.kind, value_at(ranges.from, row), value_at(ranges.to, row));
}
struct size_of_range {
  range_rows ranges;
  __device__ std::uint64_t operator()(std::uint64_t row) const {
    if (row == ranges.rows) return 0;
    return range_size(ranges.kind, value_at(ranges.from, row), value_at(ranges.to, row), step_at(ranges, row));
  }
};
struct make_range_value {
  range_rows ranges;
  const std::uint64_t* offsets;
  std::uint64_t first;
  word* values;
  std::uint32_t* owners;
  __device__ void operator()(std::uint64_t i) const {
    const std::uint64_t number = first + i;
    std::uint64_t low = 0;  // the last row whose offset is not behind
    std::uint64_t high = ranges.rows - 1;
    while (low < high) {
      const std::uint64_t middle = (low + high + 1) / 2;
      if (offsets[middle] <= number) {
        low = middle;
      } else {
        high = middle - 1;
      }
    }
    values[i] = range_value(ranges.kind, value_at(ranges.from, low), step_at(ranges, low), number - offsets[low]);
    owners[i] = static_cast<std::uint32_t>(low);
  }
};

}  // namespace

std::uint64_t group_rows(const device_context& context, backend::memory_resource& resource, const word* const* columns,
                         std::uint32_t count, std::uint64_t rows, std::uint32_t* representatives,
                         std::uint32_t* groups) {
  array<std::uint32_t> slots(resource, 2 * rows + 2);
  for_each(context, rows, find_representative{columns, count, slots.data(), slots.size(), representatives});
  return select_rows(context, resource, rows, groups, stands_for_itself{representatives});
}

void gather_rows(const device_context& context, const word* column, const std::uint32_t* rows, std::uint64_t n,
                 word* out) {
  for_each(context, n, gather_row{column, rows, out});
}

void clear_fold(const device_context& context, fold_op op, const fold_cells& cells, std::uint64_t groups) {
  for_each(context, groups, clear_cell{op, cells});
}

void add_to_fold(const device_context& context, fold_op op, const word* owners, const word* values, std::uint64_t n,
                 const fold_cells& cells) {
  if (n == 0) return;
  backend::gpu::launch(GPULOG_KERNEL(add_to_fold_kernel),
                       {backend::gpu::blocks_for(n), backend::gpu::for_each_threads, 0, context.stream()}, op, owners,
                       values, n, cells);
}

bool always_has_value(fold_op op) {
  return op == fold_op::count || op == fold_op::sum_number || op == fold_op::sum_float;
}

std::uint64_t rows_with_value(const device_context& context, backend::memory_resource& resource,
                              const fold_cells& cells, const std::uint32_t* representatives, std::uint64_t rows,
                              std::uint32_t* kept) {
  return select_rows(context, resource, rows, kept, has_value{cells.counts, representatives});
}

void fold_values(const device_context& context, fold_op op, const fold_cells& cells,
                 const std::uint32_t* representatives, const std::uint32_t* kept, std::uint64_t n, word* results) {
  for_each(context, n, take_value{op, cells, representatives, kept, results});
}

std::uint64_t count_range_values(const device_context& context, backend::memory_resource& resource,
                                 const range_rows& ranges, std::uint64_t* offsets) {
  backend::gpu::with_scratch(resource, [&](void* scratch, std::size_t& bytes) {
    backend::gpu::exclusive_sum_of(scratch, bytes, size_of_range{ranges}, offsets, ranges.rows + 1, context.stream());
  });
  return context.read_counter(offsets + ranges.rows);
}

void make_range_values(const device_context& context, const range_rows& ranges, const std::uint64_t* offsets,
                       std::uint64_t first, std::uint64_t last, word* values, std::uint32_t* owners) {
  for_each(context, last - first, make_range_value{ranges, offsets, first, values, owners});
}

}  // namespace gpulog::kernels::gpu
