#include "storage/indexes/counted_runs.hpp"

#include <algorithm>

#include "backend/gpu/block_primitives.hpp"

namespace gpulog::storage::gpu {

namespace {

constexpr std::uint32_t counting_threads = 256;
/// Rows or slots per block.
constexpr std::uint32_t share = 1024;
constexpr std::uint32_t most_runs_at_once = 16;
constexpr unsigned fingerprint_bits = 32;
constexpr std::uint32_t block_run_threads = 512;

/// Kernel argument: the runs, and the first block of each run.
struct run_list {
  counted_run runs[most_runs_at_once];
  std::uint32_t first_block[most_runs_at_once + 1];
  std::uint32_t count;
};
static_assert(sizeof(run_list) < 4096);

using scan = backend::gpu::block_scan<std::uint32_t, counting_threads>;

/// Returns the run that the calling block works on.
__device__ std::uint32_t run_of_block(const run_list& list) {
  std::uint32_t number = 0;
  while (number + 1 < list.count && list.first_block[number + 1] <= blockIdx.x) ++number;
  return number;
}

__device__ std::uint64_t slots_of(const counted_run& run) {
  return run.numbered != nullptr ? run.number_count : run.table_size;
}
/// Returns a slot's range: start of the rows in the low half, number of rows in the high half.
__device__ std::uint64_t& range_of(const counted_run& run, std::uint64_t slot) {
  return run.numbered != nullptr ? run.numbered[slot] : run.table[slot].range;
}
__device__ bool is_hashed(const counted_run& run) { return counted_run::is_hashed(run.key_length); }
/// Returns the slot of code 0 in a run whose codes are the keys. The slot always looks free, so all other codes skip
/// it.
__device__ std::uint64_t zero_slot(const counted_run& run) { return scale(mix(0), run.table_size); }

/// Returns the code of a row's key (level_view::code).
__device__ std::uint64_t code_of(const counted_run& run, std::uint64_t row) {
  level_view level;
  level.length = run.key_length;
  return level.code([&](std::uint32_t c) { return run.keys[c][row]; });
}

__device__ void clear_slot(const counted_run& run, std::uint64_t slot) {
  if (run.numbered != nullptr) {
    run.numbered[slot] = 0;
  } else {
    run.table[slot] = {0, 0};
  }
}

/// Returns whether two rows have the same key.
__device__ bool have_same_key(const counted_run& run, std::uint64_t left, std::uint64_t right) {
  for (std::uint32_t c = 0; c < run.key_length; ++c) {
    if (run.keys[c][left] != run.keys[c][right]) return false;
  }
  return true;
}

/// Returns the slot of a row's key.
__device__ std::uint64_t find_slot(const counted_run& run, std::uint64_t code, std::uint64_t row) {
  if (run.numbered != nullptr) return code;
  const bool hashed = is_hashed(run);
  const std::uint64_t zero = hashed ? run.table_size : zero_slot(run);
  if (!hashed && code == 0) return zero;
  const std::uint64_t claim = hashed ? code << fingerprint_bits | (row + 1) : code;
  for (std::uint64_t at = scale(mix(code), run.table_size);; at = at + 1 == run.table_size ? 0 : at + 1) {
    if (at == zero) continue;
    auto* const place = reinterpret_cast<unsigned long long*>(&run.table[at].code);
    std::uint64_t seen = *static_cast<volatile unsigned long long*>(place);
    if (seen == 0) seen = atomicCAS(place, 0ULL, static_cast<unsigned long long>(claim));
    if (seen == 0 || seen == claim) return at;
    if (hashed && (seen ^ claim) >> fingerprint_bits == 0 && have_same_key(run, static_cast<word>(seen) - 1ULL, row)) {
      return at;
    }
  }
}

/// Counts a row. All lanes of a wave call this; rows with the same key share one atomic.
__device__ void count_row(const counted_run& run, std::uint64_t row, bool is_there) {
  const unsigned lane = backend::gpu::lane();
  const backend::gpu::lane_mask all = backend::gpu::ballot(is_there);
  const std::uint64_t code = is_there ? code_of(run, row) : 0;
  // Lanes with the same code have the same key, except if the code is a hash: these lanes share a slot.
  const bool hashed = is_hashed(run);
  std::uint32_t slot = UINT32_MAX;
  if (hashed && is_there) slot = static_cast<std::uint32_t>(find_slot(run, code, row));
  const backend::gpu::lane_mask same =
      backend::gpu::lanes_with(hashed ? slot : static_cast<unsigned long long>(code)) & all;
  const unsigned leader = is_there ? backend::gpu::lowest_bit(same) : lane;
  std::uint32_t before = 0;
  if (is_there && leader == lane) {
    if (!hashed) slot = static_cast<std::uint32_t>(find_slot(run, code, row));
    auto* const count = reinterpret_cast<std::uint32_t*>(&range_of(run, slot)) + 1;
    before = atomicAdd(count, backend::gpu::count_bits(same));
  }
  slot = backend::gpu::shuffle(slot, leader);
  before = backend::gpu::shuffle(before, leader);
  if (!is_there) return;
  run.slot_of[row] = slot;
  run.rank_of[row] = before + backend::gpu::rank_in(same);
}

__device__ void place_slot(const counted_run& run, std::uint64_t slot, std::uint32_t count, std::uint64_t first) {
  if (count != 0) {
    range_of(run, slot) = pack(count, static_cast<word>(first));
    if (is_hashed(run)) run.table[slot].code = code_of(run, static_cast<word>(run.table[slot].code) - 1ULL);
  } else if (run.numbered == nullptr && !is_hashed(run) && slot == zero_slot(run)) {
    // No row has this code, but the probe sequences of further codes may continue after this slot: store an empty,
    // nonzero range.
    range_of(run, slot) = pack(0, 1);
  }
}

__device__ void move_row(const counted_run& run, std::uint64_t row) {
  const std::uint64_t place = static_cast<word>(range_of(run, run.slot_of[row])) + run.rank_of[row];
  for (std::uint32_t s = 0; s < run.stored_columns; ++s) run.stored[s * run.rows + place] = run.copied[s][row];
}

/// Calls action(number, whether number < n) for the numbers of the block's share, in whole waves.
template <class Action>
__device__ void for_share(std::uint32_t part, std::uint64_t n, const Action& action) {
  const std::uint64_t first = static_cast<std::uint64_t>(part) * share;
  for (std::uint32_t i = threadIdx.x; i < share; i += counting_threads) action(first + i, first + i < n);
}

__global__ void __launch_bounds__(counting_threads) clear_kernel(const run_list list) {
  const std::uint32_t number = run_of_block(list);
  const counted_run& run = list.runs[number];
  const std::uint32_t part = blockIdx.x - list.first_block[number];
  if (part == 0 && threadIdx.x == 0) *run.taken = 0;
  for_share(part, slots_of(run), [&](std::uint64_t slot, bool is_there) {
    if (is_there) clear_slot(run, slot);
  });
}

__global__ void __launch_bounds__(counting_threads) count_kernel(const run_list list) {
  const std::uint32_t number = run_of_block(list);
  const counted_run& run = list.runs[number];
  for_share(blockIdx.x - list.first_block[number], run.rows,
            [&](std::uint64_t row, bool is_there) { count_row(run, row, is_there); });
}

/// Assigns places to slots, with one atomic per block.
__global__ void __launch_bounds__(counting_threads) place_kernel(const run_list list) {
  GPULOG_SHARED(scan::storage, scratch);
  GPULOG_SHARED(unsigned long long, base);
  const std::uint32_t number = run_of_block(list);
  const counted_run& run = list.runs[number];
  constexpr std::uint32_t items = share / counting_threads;
  const std::uint64_t first = static_cast<std::uint64_t>(blockIdx.x - list.first_block[number]) * share;
  const std::uint64_t n = slots_of(run);
  std::uint32_t counts[items];
  std::uint32_t before[items];
#pragma unroll
  for (std::uint32_t i = 0; i < items; ++i) {
    const std::uint64_t slot = first + i * counting_threads + threadIdx.x;
    counts[i] = slot < n ? static_cast<std::uint32_t>(range_of(run, slot) >> 32) : 0;
  }
  std::uint32_t sum = 0;
  scan::exclusive_sum(counts, before, sum, scratch);
  if (threadIdx.x == 0) base = sum == 0 ? 0 : atomicAdd(run.taken, static_cast<unsigned long long>(sum));
  __syncthreads();
#pragma unroll
  for (std::uint32_t i = 0; i < items; ++i) {
    const std::uint64_t slot = first + i * counting_threads + threadIdx.x;
    if (slot < n) place_slot(run, slot, counts[i], base + before[i]);
  }
}

__global__ void __launch_bounds__(counting_threads) move_kernel(const run_list list) {
  const std::uint32_t number = run_of_block(list);
  const counted_run& run = list.runs[number];
  for_share(blockIdx.x - list.first_block[number], run.rows, [&](std::uint64_t row, bool is_there) {
    if (is_there) move_row(run, row);
  });
}

/// Builds each run with one thread block.
__global__ void __launch_bounds__(block_run_threads) block_kernel(const counted_run* runs) {
  GPULOG_SHARED(counted_run, run);
  backend::gpu::copy_by_block(runs + blockIdx.x, run);
  const std::uint64_t n = slots_of(run);
  if (threadIdx.x == 0) *run.taken = 0;
  for (std::uint64_t slot = threadIdx.x; slot < n; slot += block_run_threads) clear_slot(run, slot);
  __syncthreads();
  for (std::uint64_t first = 0; first < run.rows; first += block_run_threads) {
    count_row(run, first + threadIdx.x, first + threadIdx.x < run.rows);
  }
  __syncthreads();
  for (std::uint64_t slot = threadIdx.x; slot < n; slot += block_run_threads) {
    const auto count = static_cast<std::uint32_t>(range_of(run, slot) >> 32);
    place_slot(run, slot, count, count == 0 ? 0 : atomicAdd(run.taken, static_cast<unsigned long long>(count)));
  }
  __syncthreads();
  for (std::uint64_t row = threadIdx.x; row < run.rows; row += block_run_threads) move_row(run, row);
}

/// @param size returns the number of rows or slots of a run that the kernel processes
template <class Size>
void launch_shared(backend::gpu::stream_handle stream, run_list& list, const backend::gpu::kernel<run_list>& kernel,
                   const Size& size) {
  std::uint64_t blocks = 0;
  for (std::uint32_t r = 0; r < list.count; ++r) {
    list.first_block[r] = static_cast<std::uint32_t>(blocks);
    blocks += std::max<std::uint64_t>(1, (size(list.runs[r]) + share - 1) / share);
  }
  backend::gpu::launch(kernel, {static_cast<unsigned>(blocks), counting_threads, 0, stream}, list);
}

void build_some(backend::gpu::stream_handle stream, run_list& list) {
  if (list.count == 0) return;
  const auto slots = [](const counted_run& run) { return run.numbered != nullptr ? run.number_count : run.table_size; };
  const auto rows = [](const counted_run& run) { return run.rows; };
  launch_shared(stream, list, GPULOG_KERNEL(clear_kernel), slots);
  launch_shared(stream, list, GPULOG_KERNEL(count_kernel), rows);
  launch_shared(stream, list, GPULOG_KERNEL(place_kernel), slots);
  launch_shared(stream, list, GPULOG_KERNEL(move_kernel), rows);
}

}  // namespace

void build_small_counted_runs(const backend::gpu::device_context& context, const counted_run* runs, unsigned count) {
  backend::gpu::launch(GPULOG_KERNEL(block_kernel), {count, block_run_threads, 0, context.stream()}, runs);
}

void build_counted_runs(const backend::gpu::device_context& context, const std::vector<counted_run>& runs) {
  run_list list{};
  for (const counted_run& run : runs) {
    list.runs[list.count++] = run;
    if (list.count < most_runs_at_once) continue;
    build_some(context.stream(), list);
    list.count = 0;
  }
  build_some(context.stream(), list);
}

}  // namespace gpulog::storage::gpu
