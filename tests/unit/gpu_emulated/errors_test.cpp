// The emulated device finds what a device hides, and says where it is.

#include <chrono>
#include <thread>

#include "backend/gpu/emulated/sanitizer.hpp"
#include "backend/gpu/emulated/settings.hpp"
#include "backend/gpu/wave.hpp"
#include "on_emulated_device.hpp"

namespace gpulog::backend::gpu {
namespace {

using emulated_errors = on_emulated_device;

const std::string last_lane = std::to_string(wave_size - 1);
const std::string lanes_before = "0-" + std::to_string(wave_size - 2);

std::string in_line(int line) { return "errors_test.cpp:" + std::to_string(line); }

constexpr int leaving_line = __LINE__ + 4;
template <unsigned Line>
__global__ void leaving_kernel(std::uint32_t* out) {
  if (threadIdx.x == wave_size - 1 && blockIdx.x == 3) return;
  out[threadIdx.x] = shuffle(threadIdx.x, 0);
}

TEST_F(emulated_errors, lane_leaves_before_shuffle) {
  for (const std::uint64_t seed : {0, 1, 2, 3, 4, 5}) {
    emulated::set_seed(seed);
    launch(GPULOG_KERNEL(leaving_kernel<7>), {5, 2 * wave_size, 0, stream}, array<std::uint32_t>(2 * wave_size));
    expect_error("kernel leaving_kernel<7>, block 3: threads " + lanes_before + " wait at " + in_line(leaving_line) +
                 " (shuffle) for thread " + last_lane + ", which has ended");
  }
  emulated::set_seed(1);
}

constexpr int apart_line = __LINE__ + 2;
__global__ void apart_kernel(std::uint32_t* out) {
  out[threadIdx.x] = lane() == 5 ? static_cast<std::uint32_t>(ballot(true)) : shuffle(threadIdx.x, 0);
}

TEST_F(emulated_errors, lanes_at_different_operations) {
  emulated::set_seed(0);
  launch(GPULOG_KERNEL(apart_kernel), {1, wave_size, 0, stream}, array<std::uint32_t>(wave_size));
  expect_error("kernel apart_kernel, block 0: threads 0-4 wait at " + in_line(apart_line) +
               " (shuffle); thread 5 waits at " + in_line(apart_line) + " (ballot)");
  emulated::set_seed(1);
  launch(GPULOG_KERNEL(apart_kernel), {1, wave_size, 0, stream}, array<std::uint32_t>(wave_size));
  expect_error("(ballot)");
}

constexpr int missing_line = __LINE__ + 2;
__global__ void missing_kernel(std::uint32_t* out) {
  if (threadIdx.x != 9) __syncthreads();
  out[threadIdx.x] = 1;
}

TEST_F(emulated_errors, barrier_that_a_thread_never_reaches) {
  launch(GPULOG_KERNEL(missing_kernel), {1, 128, 0, stream}, array<std::uint32_t>(128));
  expect_error("kernel missing_kernel, block 0: threads 0-8, 10-127 wait at " + in_line(missing_line) +
               " (__syncthreads) for thread 9, "
               "which has ended");
}

constexpr int crossed_line = __LINE__ + 5;
__global__ void crossed_kernel() {
  if (threadIdx.x < wave_size) {
    __syncthreads();
  } else {
    if (threadIdx.x == wave_size) __syncthreads_or(1);
    wave_barrier();
  }
}

TEST_F(emulated_errors, barriers_at_different_places) {
  emulated::set_seed(0);
  launch(GPULOG_KERNEL(crossed_kernel), {1, 2 * wave_size, 0, stream});
  expect_error("(__syncthreads); thread " + std::to_string(wave_size) + " waits at " + in_line(crossed_line) +
               " (__syncthreads_or)");
  emulated::set_seed(1);
}

constexpr int stuck_line = __LINE__ + 3;
__global__ void stuck_kernel() {
  if (lane() == 0) {
    __syncthreads();
  } else if (lane() != 1) {
    wave_barrier();
  }
}

TEST_F(emulated_errors, several_groups_that_wait) {
  launch(GPULOG_KERNEL(stuck_kernel), {1, wave_size, 0, stream});
  expect_error("thread 0 waits at " + in_line(stuck_line) + " (__syncthreads); threads 2-" + last_lane + " wait at " +
               in_line(stuck_line + 2) + " (wave_barrier); thread 1 has ended");
}

__global__ void shared_kernel(unsigned last) {
  GPULOG_SHARED(std::uint32_t[10], few);
  GPULOG_SHARED(std::uint32_t, one);
  volatile std::uint32_t* const written = few;
  if (threadIdx.x <= last) written[threadIdx.x] = 1;
  one = 1;
}

TEST_F(emulated_errors, write_past_shared_array) {
  launch(GPULOG_KERNEL(shared_kernel), {2, 64, 0, stream}, 9U);
  EXPECT_EQ(error_of_stream(), "");
  if (emulated::watches_addresses) GTEST_SKIP() << "AddressSanitizer finds it at once";
  launch(GPULOG_KERNEL(shared_kernel), {2, 64, 0, stream}, 10U);
  expect_error("it wrote out of bounds in shared memory, behind few (40 bytes)");
}

__global__ void fresh_kernel(std::uint32_t* out) {
  GPULOG_SHARED(std::uint32_t, one);
  GPULOG_DYNAMIC_SHARED(std::uint32_t, some);
  out[0] = one;
  out[1] = some[3];
  one = 7;
}

TEST_F(emulated_errors, shared_memory_is_not_zero) {
  auto* const out = array<std::uint32_t>(2);
  for (int round = 0; round < 2; ++round) {
    launch(GPULOG_KERNEL(fresh_kernel), {1, 1, 64, stream}, out);
    EXPECT_EQ(read(out, 2), (std::vector<std::uint32_t>{0xA5A5A5A5, 0xA5A5A5A5}));
  }
  EXPECT_EQ(read(array<std::uint32_t>(3), 1).front(), 0xA5A5A5A5);
}

template <unsigned Words>
__global__ void large_kernel(std::uint32_t* out) {
  GPULOG_SHARED(std::uint32_t[Words], large);
  GPULOG_DYNAMIC_SHARED(std::uint32_t, dynamic);
  large[0] = dynamic[0] = 1;
  out[0] = large[0];
}

TEST_F(emulated_errors, too_much_shared_memory) {
  auto* const out = array<std::uint32_t>(1);
  constexpr std::uint64_t kilobyte = 1024;
  launch(GPULOG_KERNEL(large_kernel<4096>), {1, 1, 48 * kilobyte, stream}, out);
  EXPECT_EQ(error_of_stream(), "");
  launch(GPULOG_KERNEL(large_kernel<4097>), {1, 1, 48 * kilobyte, stream}, out);
  expect_error("65540 bytes are asked for");
  EXPECT_THROW(launch(GPULOG_KERNEL(large_kernel<1>), {1, 1, 65 * kilobyte, stream}, out), device_error);
}

__global__ void write_kernel(std::uint32_t* out, int place) { static_cast<volatile std::uint32_t*>(out)[place] = 5; }

TEST_F(emulated_errors, write_past_array) {
  if (emulated::watches_addresses) GTEST_SKIP() << "AddressSanitizer finds it at once";
  for (const int place : {100, -1}) {
    auto* const out = static_cast<std::uint32_t*>(allocate(400));
    launch(GPULOG_KERNEL(write_kernel), {1, 1, 0, stream}, out, 99);
    EXPECT_EQ(error_of_stream(), "");
    launch(GPULOG_KERNEL(write_kernel), {1, 1, 0, stream}, out, place);
    expect_error(std::string("kernel write_kernel: somebody wrote ") + (place < 0 ? "in front of" : "behind") +
                 " an array of 400 bytes");
    deallocate(out);
  }
}

TEST_F(emulated_errors, address_sanitizer_knows_bounds) {
  if (!emulated::watches_addresses) GTEST_SKIP() << "built without AddressSanitizer";
  auto* const out = array<std::uint32_t>(101);
  EXPECT_DEATH(
      {
        launch(GPULOG_KERNEL(write_kernel), {1, 1, 0, stream}, out, 101);
        synchronize(stream);
      },
      "use-after-poison");
  EXPECT_DEATH(
      {
        launch(GPULOG_KERNEL(shared_kernel), {1, 64, 0, stream}, 10U);
        synchronize(stream);
      },
      "use-after-poison");
}

TEST_F(emulated_errors, result_is_not_there_before_one_waits) {
  auto* const pinned = allocate_pinned<std::uint32_t>(1);
  *pinned = 0;
  launch(GPULOG_KERNEL(write_kernel), {1, 1, 0, stream}, pinned, 0);
  EXPECT_EQ(*static_cast<volatile std::uint32_t*>(pinned), 0U);
  synchronize(stream);
  EXPECT_EQ(*static_cast<volatile std::uint32_t*>(pinned), 5U);
  deallocate_pinned(pinned);
}

TEST_F(emulated_errors, no_memory_left) {
  constexpr std::uint64_t gigabyte = std::uint64_t{1} << 30;
  const std::uint64_t all = memory_of_device().all_bytes;
  EXPECT_EQ(all, properties_of(0).memory_bytes);
  EXPECT_EQ(allocate(all + 1), nullptr);
  std::vector<void*> taken;
  while (void* const more = allocate(gigabyte)) taken.push_back(more);
  EXPECT_EQ(taken.size(), all / gigabyte);
  for (void* const one : taken) deallocate(one);
  EXPECT_EQ(memory_of_device().free_bytes, all);
  // What is freed is not used at once, but it is not lost either.
  for (int round = 0; round < 20; ++round) {
    void* const again = allocate(all - gigabyte);
    ASSERT_NE(again, nullptr);
    deallocate(again);
  }
}

__global__ void spinning_kernel(std::uint32_t* flag) {
  if (threadIdx.x % 2 == 0) {
    while (*static_cast<volatile std::uint32_t*>(flag) == 0) pause();
  }
  __syncthreads();
}

TEST_F(emulated_errors, spinning_ends) {
  auto* const flag = zeros<std::uint32_t>(1);
  launch(GPULOG_KERNEL(spinning_kernel), {1, 4, 0, stream}, flag);
  expect_error("threads 0, 2 wait for something that never happens (pause); threads 1, 3 wait at");
  launch_together(GPULOG_KERNEL(spinning_kernel), {2, 4, 0, stream}, flag);
  expect_error("blocks that wait: 2");
}

__global__ void throwing_kernel() {
  if (threadIdx.x == 3) throw std::runtime_error("no");
}

TEST_F(emulated_errors, exceptions_and_what_is_behind_them) {
  auto* const out = zeros<std::uint32_t>(1);
  EXPECT_EQ(read(out), 0U);
  launch(GPULOG_KERNEL(throwing_kernel), {1, 4, 0, stream});
  launch(GPULOG_KERNEL(write_kernel), {1, 1, 0, stream}, out, 0);
  expect_error("kernel throwing_kernel, block 0: thread 3 threw: no (launched at ");
  EXPECT_EQ(read(out), 0U);  // nothing runs behind an error
}

TEST_F(emulated_errors, launches_that_are_refused) {
  auto* const out = zeros<std::uint32_t>(1);
  const kernel<std::uint32_t*, int> tried = GPULOG_KERNEL(write_kernel);
  EXPECT_THROW(launch(tried, {0, 1, 0, stream}, out, 0), device_error);
  EXPECT_THROW(launch(tried, {1, 0, 0, stream}, out, 0), device_error);
  EXPECT_THROW(launch(tried, {1, 1025, 0, stream}, out, 0), device_error);
  EXPECT_EQ(blocks_a_multiprocessor(tried, 256, 0), 4U);
  EXPECT_EQ(blocks_a_multiprocessor(tried, 256, 40'000), 1U);
  EXPECT_THROW(launch_together(tried, {4 * properties_of(0).multiprocessors + 1, 256, 0, stream}, out, 0),
               device_error);
}

TEST_F(emulated_errors, copies_past_an_array) {
  auto* const out = zeros<std::uint32_t>(4);
  std::uint32_t values[5] = {};
  EXPECT_THROW(copy_async(out, values, sizeof values, direction::host_to_device, stream), device_error);
  EXPECT_THROW(copy_async(values, out, sizeof values, direction::device_to_host, stream), device_error);
  EXPECT_THROW(copy_async(values, values, 4, direction::device_to_device, stream), device_error);
  EXPECT_THROW(fill_async(out + 1, 0, 16, stream), device_error);
}

TEST_F(emulated_errors, host_touches_device_memory) {
  auto* const out = zeros<std::uint32_t>(4);
  synchronize(stream);
  EXPECT_DEATH(*static_cast<volatile std::uint32_t*>(out) = 1,
               "gpulog: the host accessed memory of the emulated device");
}

__global__ void nowhere_kernel(volatile std::uint32_t* place) {
  if (threadIdx.x == 2) *place = 1;
}

TEST_F(emulated_errors, kernel_touches_no_memory) {
  EXPECT_DEATH(
      {
        launch(GPULOG_KERNEL(nowhere_kernel), {1, 4, 0, stream}, reinterpret_cast<std::uint32_t*>(std::uintptr_t{64}));
        synchronize(stream);
      },
      "gpulog: kernel nowhere_kernel, block 0, thread 2: it accessed 0x40");
}

TEST_F(emulated_errors, several_threads_of_the_host) {
  std::vector<std::thread> hosts;
  for (std::uint32_t h = 0; h < 4; ++h) {
    hosts.emplace_back([h] {
      const stream_handle own = make_stream();
      for (std::uint32_t round = 0; round < 50; ++round) {
        auto* const memory = static_cast<std::uint32_t*>(allocate(1000));
        const std::uint32_t value = h * 100 + round;
        copy_async(memory, &value, sizeof value, direction::host_to_device, own);
        std::uint32_t seen = 0;
        copy_async(&seen, memory, sizeof seen, direction::device_to_host, own);
        ASSERT_EQ(seen, value);
        deallocate(memory);
      }
      destroy(own);
    });
  }
  for (std::thread& host : hosts) host.join();
}

}  // namespace
}  // namespace gpulog::backend::gpu
