#include "kernels/join/table_operators.hpp"

#include <algorithm>

#include "backend/gpu/for_each.hpp"
#include "backend/gpu/primitives_by_functor.hpp"
#include "backend/gpu/wave.hpp"
#include "kernels/steps/ranges.hpp"
#include "storage/indexes/key_level.hpp"
#include "storage/sets/hash.hpp"
#include "storage/symbols/device_values.cuh"

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

/// Claims a slot for the row's group, or finds the row that already represents the group. The columns must not change
/// meanwhile.
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

__device__ word value_at(const row_values<word>& values, std::uint64_t row) {
  return values.column.lower == nullptr ? values.column.constant : values.column.lower[row];
}
__device__ wide_word value_at(const row_values<wide_word>& values, std::uint64_t row) {
  return storage::gpu::value_of_row(values.column, row, values.numbered);
}
__device__ void put_value(const value_columns& columns, std::uint64_t row, word value) { columns.lower[row] = value; }
__device__ void put_value(const value_columns& columns, std::uint64_t row, wide_word value) {
  columns.lower[row] = static_cast<word>(value);
  columns.upper[row] = static_cast<word>(value >> 32);
}

/// Extends a 32-bit number to 64 bits.
__device__ std::uint64_t widened(word value, bool is_signed) {
  return is_signed ? static_cast<std::uint64_t>(static_cast<std::int64_t>(static_cast<std::int32_t>(value))) : value;
}
__device__ std::uint64_t widened(wide_word value, bool) { return value; }

template <class Word>
constexpr Word sign_of = Word{1} << shift_mask<Word>;

/// Maps words to unsigned keys whose order is the order of the operation's kind; every value beats the initial key.
template <class Word>
__device__ Word to_key(fold_op op, Word value) {
  constexpr Word sign = sign_of<Word>;
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
template <class Word>
__device__ Word from_key(fold_op op, Word key) {
  constexpr Word sign = sign_of<Word>;
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

template <class Word>
struct clear_cell {
  fold_op op;
  fold_cells<Word> cells;
  __device__ void operator()(std::uint64_t group) const {
    cells.counts[group] = 0;
    cells.words[group] = is_minimum(op) ? ~Word{0} : 0;
    if (has_sum(op)) cells.sums[group] = 0;
  }
};

__device__ unsigned* atomic_cell(std::uint32_t* cell) { return cell; }
__device__ unsigned long long* atomic_cell(std::uint64_t* cell) { return reinterpret_cast<unsigned long long*>(cell); }
template <class Word>
__device__ void add(Word* cell, Word value) {
  atomicAdd(atomic_cell(cell), value);
}

/// Adds a thread's value, or the combined values of a wave, to the cells of a group.
template <class Word>
class fold_adder {
 public:
  __device__ fold_adder(fold_op op, const fold_cells<Word>& cells, word owner)
      : op_(op), cells_(cells), owner_(owner) {}

  __device__ void count(std::uint64_t values) const { add(cells_.counts + owner_, values); }
  /// The value must come from widened().
  __device__ void sum(std::uint64_t value) const {
    if constexpr (sizeof(Word) == sizeof(std::uint64_t)) {
      add(cells_.words + owner_, value);
    } else {
      add(cells_.counts + owner_, value);
    }
  }
  __device__ void sum(double value, std::uint64_t values) const {
    atomicAdd(cells_.sums + owner_, value);
    count(values);
  }
  __device__ void least(Word key) const {
    atomicMin(atomic_cell(cells_.words + owner_), key);
    cells_.counts[owner_] = 1;
  }
  __device__ void greatest(Word key) const {
    atomicMax(atomic_cell(cells_.words + owner_), key);
    cells_.counts[owner_] = 1;
  }

  __device__ void one(Word value) const {
    if (op_ == fold_op::count) {
      count(1);
    } else if (op_ == fold_op::sum_number) {
      sum(widened(value, cells_.is_signed));
    } else if (is_minimum(op_)) {
      least(to_key(op_, value));
    } else if (is_maximum(op_)) {
      greatest(to_key(op_, value));
    } else {
      sum(static_cast<double>(as_float(value)), 1);
    }
  }
  /// All lanes: adds the lanes' values, which belong to the same group.
  __device__ void all_of_wave(Word value) const {
    const bool is_first = backend::gpu::lane() == 0;
    if (op_ == fold_op::count) {
      if (is_first) count(wave_size);
    } else if (op_ == fold_op::sum_number) {
      const std::uint64_t all = backend::gpu::sum_of_lanes(widened(value, cells_.is_signed));
      if (is_first) sum(all);
    } else if (is_minimum(op_)) {
      const Word key = backend::gpu::least_of_lanes(to_key(op_, value));
      if (is_first) least(key);
    } else if (is_maximum(op_)) {
      const Word key = backend::gpu::greatest_of_lanes(to_key(op_, value));
      if (is_first) greatest(key);
    } else {
      double all = static_cast<double>(as_float(value));
      for (unsigned distance = wave_size / 2; distance != 0; distance /= 2)
        all += backend::gpu::shuffle_xor(all, distance);
      if (is_first) sum(all, wave_size);
    }
  }

 private:
  fold_op op_;
  const fold_cells<Word>& cells_;
  word owner_;
};

/// Adjacent rows usually belong to one group: the wave then reduces its values first, and one thread adds the result.
template <class Word>
__global__ void add_to_fold_kernel(fold_op op, const word* owners, row_values<Word> values, std::uint64_t n,
                                   fold_cells<Word> cells) {
  const std::uint64_t stride = static_cast<std::uint64_t>(gridDim.x) * blockDim.x;
  const std::uint64_t end = (n + wave_size - 1) / wave_size * wave_size;  // rounded up to whole waves
  for (std::uint64_t i = static_cast<std::uint64_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < end; i += stride) {
    const bool is_value = i < n;
    const word owner = is_value ? owners[i] : 0;
    const Word value = is_value && op != fold_op::count ? value_at(values, i) : 0;
    const word first_owner = backend::gpu::shuffle(owner, 0);
    const fold_adder<Word> adder(op, cells, owner);
    if (backend::gpu::all_lanes(is_value && owner == first_owner)) {
      adder.all_of_wave(value);
    } else if (is_value) {
      adder.one(value);
    }
  }
}

/// For a count, or a sum of numbers.
template <class Word>
__global__ void add_row_counts_kernel(fold_op op, const word* owners, row_values<Word> values,
                                      const std::uint64_t* matches, std::uint64_t n, fold_cells<Word> cells) {
  const std::uint64_t stride = static_cast<std::uint64_t>(gridDim.x) * blockDim.x;
  const std::uint64_t end = (n + wave_size - 1) / wave_size * wave_size;  // rounded up to whole waves
  for (std::uint64_t i = static_cast<std::uint64_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < end; i += stride) {
    const bool is_row = i < n;
    const word owner = is_row ? owners[i] : 0;
    std::uint64_t added = is_row ? matches[i] : 0;
    if (is_row && op != fold_op::count) added *= widened(value_at(values, i), cells.is_signed);
    const word first_owner = backend::gpu::shuffle(owner, 0);
    const bool is_one_group = backend::gpu::all_lanes(is_row && owner == first_owner);
    if (is_one_group) added = backend::gpu::sum_of_lanes(added);
    if (!is_row || (is_one_group && backend::gpu::lane() != 0)) continue;
    const fold_adder<Word> adder(op, cells, owner);
    if (op == fold_op::count) {
      adder.count(added);
    } else {
      adder.sum(added);
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
template <class Word>
struct take_value {
  fold_op op;
  fold_cells<Word> cells;
  const std::uint32_t* representatives;
  const std::uint32_t* kept;
  value_columns results;
  std::uint64_t* wraps_around;

  /// Returns whether a count, or a 64-bit sum, overflows a word.
  __device__ bool needs_more_bits(std::uint64_t value) const {
    constexpr Word largest = static_cast<Word>(~Word{0});
    if (op == fold_op::count) return value > (cells.is_signed ? largest / 2 : largest);
    if (sizeof(Word) == sizeof(std::uint64_t)) return false;
    return widened(static_cast<word>(value), cells.is_signed) != value;
  }

  __device__ void operator()(std::uint64_t i) const {
    const std::uint64_t row = kept == nullptr ? i : kept[i];
    const std::uint64_t group = representatives == nullptr ? 0 : representatives[row];
    Word value = 0;
    if (op == fold_op::count || (op == fold_op::sum_number && sizeof(Word) < sizeof(std::uint64_t))) {
      value = static_cast<Word>(cells.counts[group]);
      if (needs_more_bits(cells.counts[group])) *wraps_around = 1;
    } else if (op == fold_op::sum_float) {
      value = from_float(static_cast<float_of<Word>>(cells.sums[group]));
    } else if (op == fold_op::mean) {
      value = from_float(static_cast<float_of<Word>>(cells.sums[group] / static_cast<double>(cells.counts[group])));
    } else {
      value = op == fold_op::sum_number ? cells.words[group] : from_key(op, cells.words[group]);
    }
    put_value(results, i, value);
  }
};

template <class Word>
__device__ Word step_at(const range_rows<Word>& ranges, std::uint64_t row) {
  if (ranges.has_step) return value_at(ranges.step, row);
  return default_step(ranges.kind, value_at(ranges.from, row), value_at(ranges.to, row));
}
template <class Word>
struct size_of_range {
  range_rows<Word> ranges;
  __device__ std::uint64_t operator()(std::uint64_t row) const {
    if (row == ranges.rows) return 0;
    return range_size(ranges.kind, value_at(ranges.from, row), value_at(ranges.to, row), step_at(ranges, row));
  }
};
template <class Word>
struct make_range_value {
  range_rows<Word> ranges;
  const std::uint64_t* offsets;
  std::uint64_t first;
  value_columns values;
  std::uint32_t* owners;
  __device__ void operator()(std::uint64_t i) const {
    const std::uint64_t number = first + i;
    std::uint64_t low = 0;  // finds the last row whose offset is at most `number`
    std::uint64_t high = ranges.rows - 1;
    while (low < high) {
      const std::uint64_t middle = (low + high + 1) / 2;
      if (offsets[middle] <= number) {
        low = middle;
      } else {
        high = middle - 1;
      }
    }
    put_value(values, i,
              range_value(ranges.kind, value_at(ranges.from, low), step_at(ranges, low), number - offsets[low]));
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

template <class Word>
void clear_fold(const device_context& context, fold_op op, const fold_cells<Word>& cells, std::uint64_t groups) {
  for_each(context, groups, clear_cell<Word>{op, cells});
}

template <class Word>
void add_to_fold(const device_context& context, fold_op op, const word* owners, const row_values<Word>& values,
                 std::uint64_t n, const fold_cells<Word>& cells) {
  if (n == 0) return;
  backend::gpu::launch(GPULOG_KERNEL(add_to_fold_kernel<Word>),
                       {backend::gpu::blocks_for(n), backend::gpu::for_each_threads, 0, context.stream()}, op, owners,
                       values, n, cells);
}

template <class Word>
void add_row_counts(const device_context& context, fold_op op, const word* owners, const row_values<Word>& values,
                    const std::uint64_t* matches, std::uint64_t n, const fold_cells<Word>& cells) {
  if (n == 0) return;
  backend::gpu::launch(GPULOG_KERNEL(add_row_counts_kernel<Word>),
                       {backend::gpu::blocks_for(n), backend::gpu::for_each_threads, 0, context.stream()}, op, owners,
                       values, matches, n, cells);
}

bool always_has_value(fold_op op) {
  return op == fold_op::count || op == fold_op::sum_number || op == fold_op::sum_float;
}

std::uint64_t rows_with_value(const device_context& context, backend::memory_resource& resource,
                              const std::uint64_t* counts, const std::uint32_t* representatives, std::uint64_t rows,
                              std::uint32_t* kept) {
  return select_rows(context, resource, rows, kept, has_value{counts, representatives});
}

template <class Word>
void fold_values(const device_context& context, fold_op op, const fold_cells<Word>& cells,
                 const std::uint32_t* representatives, const std::uint32_t* kept, std::uint64_t n,
                 const value_columns& results, std::uint64_t* wraps_around) {
  for_each(context, n, take_value<Word>{op, cells, representatives, kept, results, wraps_around});
}

template <class Word>
std::uint64_t count_range_values(const device_context& context, backend::memory_resource& resource,
                                 const range_rows<Word>& ranges, std::uint64_t* offsets) {
  backend::gpu::with_scratch(resource, [&](void* scratch, std::size_t& bytes) {
    backend::gpu::exclusive_sum_of(scratch, bytes, size_of_range<Word>{ranges}, offsets, ranges.rows + 1,
                                   context.stream());
  });
  return context.read_counter(offsets + ranges.rows);
}

template <class Word>
void make_range_values(const device_context& context, const range_rows<Word>& ranges, const std::uint64_t* offsets,
                       std::uint64_t first, std::uint64_t last, const value_columns& values, std::uint32_t* owners) {
  for_each(context, last - first, make_range_value<Word>{ranges, offsets, first, values, owners});
}

#define GPULOG_INSTANTIATE(Word)                                                                                       \
  template void clear_fold(const device_context&, fold_op, const fold_cells<Word>&, std::uint64_t);                    \
  template void add_to_fold(const device_context&, fold_op, const word*, const row_values<Word>&, std::uint64_t,       \
                            const fold_cells<Word>&);                                                                  \
  template void add_row_counts(const device_context&, fold_op, const word*, const row_values<Word>&,                   \
                               const std::uint64_t*, std::uint64_t, const fold_cells<Word>&);                          \
  template void fold_values(const device_context&, fold_op, const fold_cells<Word>&, const std::uint32_t*,             \
                            const std::uint32_t*, std::uint64_t, const value_columns&, std::uint64_t*);                \
  template std::uint64_t count_range_values(const device_context&, backend::memory_resource&, const range_rows<Word>&, \
                                            std::uint64_t*);                                                           \
  template void make_range_values(const device_context&, const range_rows<Word>&, const std::uint64_t*, std::uint64_t, \
                                  std::uint64_t, const value_columns&, std::uint32_t*);
GPULOG_INSTANTIATE(word)
GPULOG_INSTANTIATE(wide_word)
#undef GPULOG_INSTANTIATE

}  // namespace gpulog::kernels::gpu
