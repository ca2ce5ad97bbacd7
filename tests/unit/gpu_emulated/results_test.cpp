// The emulated device does what a device does: kernels, meeting points, primitives, streams.

#include <algorithm>
#include <bit>
#include <numeric>

#include "backend/gpu/block_primitives.hpp"
#include "backend/gpu/emulated/settings.hpp"
#include "backend/gpu/primitives_by_functor.hpp"
#include "backend/gpu/running_sums.cuh"
#include "on_emulated_device.hpp"

namespace gpulog::backend::gpu {
namespace {

constexpr unsigned threads = 256;

using emulated_results = on_emulated_device;

__global__ void number_kernel(std::uint32_t* out, std::uint64_t n) {
  const std::uint64_t own = std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (own < n) out[own] = static_cast<std::uint32_t>(own * gridDim.x);
}

TEST_F(emulated_results, each_thread_has_its_number) {
  constexpr std::uint64_t n = 20'000;
  auto* const out = array<std::uint32_t>(n);
  launch(GPULOG_KERNEL(number_kernel), {79, threads, 0, stream}, out, n);
  const std::vector<std::uint32_t> seen = read(out, n);
  for (std::uint64_t i = 0; i < n; ++i) ASSERT_EQ(seen[i], i * 79);
}

__global__ void atomic_kernel(unsigned long long* sums, double* real, std::uint32_t* extremes) {
  atomicAdd(sums, 1);
  atomicAdd(sums + 1, static_cast<unsigned long long>(threadIdx.x));
  atomicAdd(real, 0.5);
  atomicMin(extremes, threadIdx.x + 3);
  atomicMax(extremes + 1, threadIdx.x + blockIdx.x);
  atomicOr(extremes + 2, 1U << threadIdx.x % 32);
  if (atomicCAS(extremes + 3, 0U, 1U) == 0) atomicExch(extremes + 4, 7U);
  static_cast<void>(count_up(reinterpret_cast<std::uint64_t*>(sums + 2)));
}

TEST_F(emulated_results, atomics_of_many_blocks) {
  auto* const sums = zeros<unsigned long long>(3);
  auto* const real = zeros<double>(1);
  auto* const extremes = zeros<std::uint32_t>(5);
  fill_async(extremes, 0xff, sizeof *extremes, stream);
  launch(GPULOG_KERNEL(atomic_kernel), {50, threads, 0, stream}, sums, real, extremes);
  EXPECT_EQ(read(sums, 3), (std::vector<unsigned long long>{50 * threads, 50 * 255 * 128, 50 * threads}));
  EXPECT_EQ(read(real), 50 * threads * 0.5);
  EXPECT_EQ(read(extremes, 5), (std::vector<std::uint32_t>{3, 255 + 49, UINT32_MAX, 1, 7}));
}

struct wave_results {
  std::uint64_t ballot;
  std::uint64_t with_same;
  std::uint64_t shuffled;
  std::uint32_t up;
  std::uint32_t sum;
  std::uint32_t sofar;
  std::uint32_t least;
  bool any;
  bool all;
};

__global__ void wave_kernel(wave_results* out) {
  const std::uint32_t value = threadIdx.x * 3 + blockIdx.x;
  wave_results own;
  own.ballot = ballot(value % 3 == 0 && lane() % 2 == 0);
  own.with_same = lanes_with(lane() % 4);
  own.shuffled = shuffle(std::uint64_t{value} << 32, lane() + 5);
  own.up = shuffle_up(value, 2);
  own.sum = sum_of_lanes(value);
  own.sofar = inclusive_sum_of_lanes(value);
  own.least = least_of_lanes(value);
  own.any = any_lane(lane() == 7);
  own.all = all_lanes(lane() != 7);
  wave_barrier();
  out[blockIdx.x * blockDim.x + threadIdx.x] = own;
}

TEST_F(emulated_results, lanes_of_a_wave) {
  auto* const out = array<wave_results>(9 * threads);
  launch(GPULOG_KERNEL(wave_kernel), {9, threads, 0, stream}, out);
  const std::vector<wave_results> seen = read(out, 9 * threads);
  const auto of = [](unsigned thread, unsigned block) { return thread * 3 + block; };
  for (unsigned block = 0; block < 9; ++block) {
    for (unsigned thread = 0; thread < threads; ++thread) {
      const wave_results& own = seen[block * threads + thread];
      const unsigned lane = thread % wave_size;
      const unsigned first = thread - lane;
      lane_mask even = 0;
      lane_mask same = 0;
      std::uint32_t sum = 0;
      std::uint32_t sofar = 0;
      for (unsigned other = 0; other < wave_size; ++other) {
        if (of(first + other, block) % 3 == 0 && other % 2 == 0) even |= lane_mask{1} << other;
        if (other % 4 == lane % 4) same |= lane_mask{1} << other;
        sum += of(first + other, block);
        if (other <= lane) sofar += of(first + other, block);
      }
      ASSERT_EQ(own.ballot, even);
      ASSERT_EQ(own.with_same, same);
      ASSERT_EQ(own.shuffled, std::uint64_t{of(first + (lane + 5) % wave_size, block)} << 32);
      ASSERT_EQ(own.up, lane < 2 ? of(thread, block) : of(thread - 2, block));
      ASSERT_EQ(own.sum, sum);
      ASSERT_EQ(own.sofar, sofar);
      ASSERT_EQ(own.least, of(first, block));
      ASSERT_TRUE(own.any);
      ASSERT_FALSE(own.all);
    }
  }
}

using scan = block_scan<std::uint32_t, threads>;
using bits_union = block_union<std::uint32_t, threads>;
using sort = block_sort<std::uint32_t, threads, 2, std::uint16_t>;

template <unsigned Items>
__global__ void block_kernel(const std::uint32_t* in, std::uint32_t* sums, std::uint32_t* sorted, std::uint32_t* all) {
  GPULOG_SHARED(typename scan::storage, scanned);
  GPULOG_SHARED(typename bits_union::storage, united);
  GPULOG_SHARED(typename sort::storage, ordered);
  std::uint32_t values[Items];
  std::uint16_t places[Items];
  std::uint32_t before[Items];
  std::uint32_t total = 0;
  const unsigned first = threadIdx.x * Items;
  for (unsigned i = 0; i < Items; ++i) {
    values[i] = in[first + i];
    places[i] = static_cast<std::uint16_t>(first + i);
  }
  scan::exclusive_sum(values, before, total, scanned);
  for (unsigned i = 0; i < Items; ++i) sums[first + i] = before[i];
  const std::uint32_t bits = bits_union::of(values[0] | values[1], united);
  if (threadIdx.x == 0) {
    all[0] = total;
    all[1] = bits;
  }
  sort::sort(values, places, 4, 12, ordered);
  for (unsigned i = 0; i < Items; ++i) sorted[first + i] = places[i];
  std::uint32_t own = 0;
  __syncthreads();
  scan::exclusive_sum(1U, own, total, scanned);
  if (__syncthreads_or(own != threadIdx.x || total != blockDim.x) != 0) all[0] = 0;
}

TEST_F(emulated_results, threads_of_a_block) {
  constexpr unsigned n = 2 * threads;
  std::vector<std::uint32_t> values(n);
  for (unsigned i = 0; i < n; ++i) values[i] = i * 2654435761U >> 12;
  auto* const sums = array<std::uint32_t>(n);
  auto* const sorted = array<std::uint32_t>(n);
  auto* const all = array<std::uint32_t>(2);
  launch(GPULOG_KERNEL(block_kernel<2>), {1, threads, 0, stream}, array(values), sums, sorted, all);
  std::vector<std::uint32_t> expected_sums(n);
  std::exclusive_scan(values.begin(), values.end(), expected_sums.begin(), 0U);
  std::vector<std::uint32_t> order(n);
  std::iota(order.begin(), order.end(), 0U);
  std::stable_sort(order.begin(), order.end(),
                   [&](auto a, auto b) { return (values[a] >> 4 & 255) < (values[b] >> 4 & 255); });
  EXPECT_EQ(read(sums, n), expected_sums);
  EXPECT_EQ(read(sorted, n), order);
  EXPECT_EQ(read(all), std::accumulate(values.begin(), values.end(), 0U));
  EXPECT_EQ(read(all + 1), std::accumulate(values.begin(), values.end(), 0U, std::bit_or<>()));
}

__device__ void wait_for_all_blocks(unsigned* arrived, unsigned round) {
  __syncthreads();
  if (threadIdx.x == 0) {
    __threadfence();
    atomicAdd(arrived, 1U);
    while (*static_cast<volatile unsigned*>(arrived) < round * gridDim.x) pause();
  }
  __syncthreads();
}

__global__ void turn_kernel(std::uint32_t* in, std::uint32_t* out, unsigned* arrived) {
  const unsigned n = gridDim.x * blockDim.x;
  const unsigned own = blockIdx.x * blockDim.x + threadIdx.x;
  for (unsigned round = 1; round <= 10; ++round) {
    out[(own + 100) % n] = in[own] + 1;
    wait_for_all_blocks(arrived, round);
    std::swap(in, out);
  }
}

TEST_F(emulated_results, blocks_that_wait_for_each_other) {
  constexpr unsigned blocks = 8;
  constexpr unsigned n = blocks * 128;
  std::vector<std::uint32_t> values(n);
  std::iota(values.begin(), values.end(), 0U);
  auto* const in = array(values);
  launch_together(GPULOG_KERNEL(turn_kernel), {blocks, 128, 0, stream}, in, array<std::uint32_t>(n),
                  zeros<unsigned>(1));
  const std::vector<std::uint32_t> seen = read(in, n);
  for (unsigned i = 0; i < n; ++i) ASSERT_EQ(seen[(i + 1000) % n], i + 10);
}

__global__ void dynamic_kernel(std::uint32_t* out) {
  GPULOG_DYNAMIC_SHARED(std::uint32_t, words);
  words[threadIdx.x] = threadIdx.x * threadIdx.x;
  __syncthreads();
  out[threadIdx.x] = words[blockDim.x - 1 - threadIdx.x];
}

TEST_F(emulated_results, dynamic_shared_memory) {
  auto* const out = array<std::uint32_t>(threads);
  launch(GPULOG_KERNEL(dynamic_kernel), {1, threads, threads * sizeof *out, stream}, out);
  const std::vector<std::uint32_t> seen = read(out, threads);
  for (unsigned i = 0; i < threads; ++i) ASSERT_EQ(seen[i], (threads - 1 - i) * (threads - 1 - i));
}

/// Calls a primitive twice, as callers do.
template <class Call>
void run_primitive(void* scratch, const Call& call) {
  std::size_t bytes = 0;
  call(nullptr, bytes);
  ASSERT_GT(bytes, 0U);
  call(scratch, bytes);
}

TEST_F(emulated_results, primitives) {
  const std::vector<std::uint32_t> values = {5, 5, 3, 9, 9, 9, 1, 260};
  const std::uint64_t n = values.size();
  auto* const in = array(values);
  auto* const out = array<std::uint32_t>(n);
  auto* const sums = array<std::uint64_t>(n);
  auto* const count = array<std::uint64_t>(1);
  void* const scratch = array<char>(64);
  run_primitive(scratch, [&](void* s, std::size_t& b) { exclusive_sum(s, b, in, out, n, stream); });
  EXPECT_EQ(read(out, n), (std::vector<std::uint32_t>{0, 5, 10, 13, 22, 31, 40, 41}));
  run_primitive(scratch, [&](void* s, std::size_t& b) { unique(s, b, in, out, count, n, stream); });
  EXPECT_EQ(read(out, read(count)), (std::vector<std::uint32_t>{5, 3, 9, 1, 260}));
  run_primitive(scratch, [&](void* s, std::size_t& b) {
    select_if(
        s, b, out, count, n, [in] __device__(std::uint32_t i) { return in[i] > 4; }, stream);
  });
  EXPECT_EQ(read(out, read(count)), (std::vector<std::uint32_t>{0, 1, 3, 4, 5, 7}));
  run_primitive(scratch, [&](void* s, std::size_t& b) {
    exclusive_sum_of(
        s, b, [in] __device__(std::uint64_t i) { return std::uint64_t{in[i]} << 32; }, sums, n, stream);
  });
  EXPECT_EQ(read(sums + 7), std::uint64_t{41} << 32);
  run_primitive(scratch, [&](void* s, std::size_t& b) {
    sum_of(
        s, b, [in] __device__(std::uint64_t i) { return in[i]; }, count, n, stream);
  });
  EXPECT_EQ(read(count), 301U);
  auto* const flags = array<std::uint8_t>({0, 1, 0, 2});
  run_primitive(scratch, [&](void* s, std::size_t& b) { select_flagged(s, b, flags, out, count, 4, stream); });
  EXPECT_EQ(read(out, read(count)), (std::vector<std::uint32_t>{1, 3}));
}

TEST_F(emulated_results, sorts_leave_their_result_in_either_array) {
  emulated::set_seed(1);
  auto* const scratch = array<char>(64);
  auto* const other = array<std::uint32_t>(5);
  auto* const other_values = array<std::uint32_t>(5);
  unsigned in_other = 0;
  for (unsigned round = 0; round < 20; ++round) {
    double_buffer<std::uint32_t> keys{array<std::uint32_t>({0x105, 3, 0x205, 4, 1}), other};
    double_buffer<std::uint32_t> values{array<std::uint32_t>({0, 1, 2, 3, 4}), other_values};
    run_primitive(scratch, [&](void* s, std::size_t& b) { sort_pairs(s, b, keys, values, 5, 0, 8, stream); });
    in_other += keys.current == other ? 1 : 0;
    ASSERT_EQ(read(keys.current, 5), (std::vector<std::uint32_t>{1, 3, 4, 0x105, 0x205}));
    ASSERT_EQ(read(values.current, 5), (std::vector<std::uint32_t>{4, 1, 3, 0, 2}));
    run_primitive(scratch, [&](void* s, std::size_t& b) { sort_keys(s, b, keys, 5, 8, 32, stream); });
    ASSERT_EQ(read(keys.current, 5), (std::vector<std::uint32_t>{1, 3, 4, 0x105, 0x205}));
  }
  EXPECT_GT(in_other, 0U);
  EXPECT_LT(in_other, 20U);
}

TEST_F(emulated_results, streams_wait_for_events) {
  const stream_handle second = make_stream();
  const event_handle done = make_event(event_kind::timed);
  const event_handle last = make_event(event_kind::timed);
  auto* const number = zeros<std::uint32_t>(2);
  auto* const pinned = allocate_pinned<std::uint32_t>(2);
  for (std::uint32_t round = 1; round < 20; ++round) {
    pinned[0] = round;
    copy_async(number, pinned, sizeof *pinned, direction::host_to_device, stream);
    record(done, stream);
    wait_for(second, done);
    copy_async(number + 1, number, sizeof *pinned, direction::device_to_device, second);
    record(last, second);
    copy_async(pinned + 1, number + 1, sizeof *pinned, direction::device_to_host, second);
    if (round % 2 == 0) {
      synchronize(second);
    } else {
      EXPECT_TRUE(is_idle(stream));
    }
    ASSERT_EQ(pinned[1], round);
    EXPECT_GE(seconds_between(done, last), 0);
  }
  deallocate_pinned(pinned);
  destroy(done);
  destroy(last);
  destroy(second);
}

__global__ void order_kernel(std::uint32_t* order, std::uint32_t* next) {
  order[atomicAdd(next, 1U)] = blockIdx.x * blockDim.x + threadIdx.x;
  __syncthreads();
  order[atomicAdd(next, 1U)] = blockIdx.x * blockDim.x + threadIdx.x;
}

TEST_F(emulated_results, seeds_give_orders) {
  std::vector<std::vector<std::uint32_t>> orders;
  for (const std::uint64_t seed : {0, 1, 2, 3}) {
    emulated::set_seed(seed);
    auto* const order = array<std::uint32_t>(2 * threads);
    launch(GPULOG_KERNEL(order_kernel), {1, threads, 0, stream}, order, zeros<std::uint32_t>(1));
    orders.push_back(read(order, 2 * threads));
  }
  emulated::set_seed(1);
  std::vector<std::uint32_t> numbers(threads);
  std::iota(numbers.begin(), numbers.end(), 0U);
  for (unsigned half = 0; half < 2; ++half) {
    const auto part = [&](std::size_t which) {
      const auto begin = orders[which].begin() + half * threads;
      return std::vector<std::uint32_t>(begin, begin + threads);
    };
    EXPECT_EQ(part(0), numbers);
    for (std::size_t which = 1; which < orders.size(); ++which) {
      std::vector<std::uint32_t> sorted = part(which);
      EXPECT_NE(sorted, part((which + 1) % orders.size()));
      std::sort(sorted.begin(), sorted.end());
      EXPECT_EQ(sorted, numbers);
    }
  }
}

constexpr unsigned steps_of_wave = 4;
/// Lists the waves of each block in the order of their steps.
__global__ void steps_kernel(std::uint32_t* order, std::uint32_t* next) {
  const unsigned wave = threadIdx.x / wave_size;
  const unsigned all = blockDim.x / wave_size * steps_of_wave;
  __syncthreads();
  for (unsigned step = 0; step < steps_of_wave; ++step) {
    if (lane() == 0) order[blockIdx.x * all + atomicAdd(&next[blockIdx.x], 1U)] = wave;
    wave_barrier();
  }
}

/// A missing barrier between waves is visible only if one wave advances further than the rest.
TEST_F(emulated_results, waves_run_ahead_in_some_blocks) {
  constexpr unsigned waves = 4;
  constexpr unsigned blocks = 32;
  constexpr unsigned all = waves * steps_of_wave;
  for (const std::uint64_t seed : {0, 1, 2, 3}) {
    emulated::set_seed(seed);
    auto* const order = array<std::uint32_t>(blocks * all);
    launch(GPULOG_KERNEL(steps_kernel), {blocks, waves * wave_size, 0, stream}, order, zeros<std::uint32_t>(blocks));
    const std::vector<std::uint32_t> steps = read(order, blocks * all);
    unsigned ahead = 0;
    for (unsigned b = 0; b < blocks; ++b) {
      unsigned changes = 0;
      for (unsigned s = 1; s < all; ++s) changes += steps[b * all + s] != steps[b * all + s - 1] ? 1 : 0;
      ahead += changes == waves - 1 ? 1 : 0;
    }
    if (seed == 0) {
      EXPECT_EQ(ahead, 0U);
    } else {
      EXPECT_GT(ahead, 0U) << seed;
      EXPECT_LT(ahead, blocks) << seed;
    }
  }
  emulated::set_seed(1);
}

/// As in a search: all threads read the end of a queue before a thread grows the queue.
constexpr int end_read_line = __LINE__ + 7;
__global__ void growing_kernel(std::uint32_t* ends) {
  GPULOG_SHARED(std::uint32_t, end);
  if (threadIdx.x == 0) end = 7;
  __syncthreads();
  const std::uint32_t known = end;
  wave_barrier();
  __syncthreads();
  if (lane() == 0) atomicAdd(&end, 1U);
  ends[blockIdx.x * blockDim.x + threadIdx.x] = known;
}

TEST_F(emulated_results, missing_block_barrier_changes_results) {
  constexpr unsigned blocks = 32;
  constexpr unsigned all = blocks * 4 * wave_size;
  for (const bool is_removed : {false, true}) {
    if (is_removed) emulated::set_removed_barrier({"results_test.cpp", end_read_line});
    for (const std::uint64_t seed : {1, 2, 3}) {
      emulated::set_seed(seed);
      auto* const ends = array<std::uint32_t>(all);
      launch(GPULOG_KERNEL(growing_kernel), {blocks, 4 * wave_size, 0, stream}, ends);
      EXPECT_EQ(read(ends, all) == std::vector<std::uint32_t>(all, 7), !is_removed) << seed;
    }
  }
  emulated::set_removed_barrier({});
  emulated::set_seed(1);
}

TEST(emulated_language, numbers_of_several_types) {
  static_assert(std::is_same_v<decltype(min(1U, std::uint64_t{2})), std::uint64_t>);
  static_assert(std::is_same_v<decltype(max(std::uint16_t{1}, std::uint16_t{2})), int>);
  EXPECT_EQ(min(3U, std::uint64_t{1} << 40), 3U);
  EXPECT_EQ(max(-1, 2), 2);
  EXPECT_EQ(__clz(0), 32);
  EXPECT_EQ(__ffs(8), 4);
  EXPECT_EQ(lowest_bit(std::uint64_t{1} << 50), 50U);
}

__global__ void late_lane_kernel(std::uint32_t* flag, std::uint32_t* out) {
  if (threadIdx.x == 1) *static_cast<volatile std::uint32_t*>(flag) = 1;
  if (threadIdx.x == 0) {
    while (*static_cast<volatile std::uint32_t*>(flag) == 0) pause();
  }
  *out = sum_of_lanes(threadIdx.x);
}

TEST_F(emulated_results, the_first_lane_meets_the_others_last) {
  for (const std::uint64_t seed : {0, 1, 2, 3, 4, 5}) {
    emulated::set_seed(seed);
    auto* const flag = zeros<std::uint32_t>(1);
    auto* const out = zeros<std::uint32_t>(1);
    launch(GPULOG_KERNEL(late_lane_kernel), {1, wave_size, 0, stream}, flag, out);
    EXPECT_EQ(read(out), wave_size * (wave_size - 1) / 2) << "seed " << seed;
  }
  emulated::set_seed(1);
}

struct growing_values {
  std::uint64_t factor;
  __device__ std::uint64_t operator()(std::uint64_t i) const { return i % 7 * factor; }
};

TEST_F(emulated_results, running_sums) {
  const device_context context(0);
  device_memory memory(context, 0);
  for (const std::uint64_t seed : {0, 1, 2, 3}) {
    emulated::set_seed(seed);
    running_sums sums(memory);
    // From one tile to more tiles than lanes.
    for (const std::uint64_t n : {1U, 256U, 257U, 20'000U, 3U, 60'000U}) {
      gpulog::backend::array<std::uint64_t> out(memory, n);
      store_sums(context.stream(), sums, n, growing_values{(std::uint64_t{1} << 33) + n}, out.data());
      std::vector<std::uint64_t> seen(n);
      copy_async(seen.data(), out.data(), n * sizeof(std::uint64_t), direction::device_to_host, context.stream());
      context.synchronize();
      std::uint64_t sum = 0;
      for (std::uint64_t i = 0; i < n; ++i) {
        ASSERT_EQ(seen[i], sum) << "value " << i << " of " << n << ", seed " << seed;
        sum += i % 7 * ((std::uint64_t{1} << 33) + n);
      }
    }
  }
  emulated::set_seed(1);
}

}  // namespace
}  // namespace gpulog::backend::gpu
