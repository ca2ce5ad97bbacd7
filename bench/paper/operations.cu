#include "operations.hpp"

#include <cub/device/device_merge.cuh>
#include <cuda/std/functional>

#include <chrono>

#include "backend/gpu/device.hpp"
#include "backend/gpu/launch.hpp"
#include "storage/hisa/hisa_device.cuh"
#include "storage/sets/hash.hpp"

namespace {

using gpulog::backend::array;
using gpulog::backend::fresh_memory;
using gpulog::backend::gpu::device_context;
using gpulog::backend::gpu::device_memory;
using namespace gpulog::storage::gpu;

struct random_pair {
  std::uint64_t* out;
  __device__ void operator()(std::uint64_t i) const { out[i] = gpulog::storage::mix(i + 1); }
};
/// Writes consecutive numbers from `begin`. With begin 0 for ranks and positions, old and new elements alternate.
struct number_word {
  std::uint32_t* out;
  std::uint32_t begin;
  __device__ void operator()(std::uint64_t i) const { out[i] = begin + static_cast<std::uint32_t>(i); }
};

/// Sums the seconds of stream work between start() and stop().
class stopwatch {
 public:
  explicit stopwatch(gpulog::backend::gpu::stream_handle stream) : stream_(stream) {
    begin_ = gpulog::backend::gpu::make_event(gpulog::backend::gpu::event_kind::timed);
    end_ = gpulog::backend::gpu::make_event(gpulog::backend::gpu::event_kind::timed);
  }
  ~stopwatch() {
    gpulog::backend::gpu::destroy(begin_);
    gpulog::backend::gpu::destroy(end_);
  }
  stopwatch(const stopwatch&) = delete;
  stopwatch& operator=(const stopwatch&) = delete;
  void start() { gpulog::backend::gpu::record(begin_, stream_); }
  void stop(double& sum) {
    gpulog::backend::gpu::record(end_, stream_);
    gpulog::backend::gpu::synchronize(end_);
    sum += gpulog::backend::gpu::seconds_between(begin_, end_);
  }

 private:
  gpulog::backend::gpu::stream_handle stream_;
  gpulog::backend::gpu::event_handle begin_ = nullptr;
  gpulog::backend::gpu::event_handle end_ = nullptr;
};

double seconds_now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

}  // namespace

operation_times measure_on_gpu(std::uint64_t n, double most_seconds) {
  const device_context context(0);
  device_memory memory(context, 0);
  gpulog::backend::gpu::phase_clock clock(context);
  hisa_workspace space(context, memory, clock);
  gpulog::backend::gpu::stream_handle stream = context.stream();
  using words = array<std::uint64_t>;
  words source(memory, n, fresh_memory::anything);
  words keys(memory, n, fresh_memory::anything);
  words other(memory, n, fresh_memory::anything);
  words halves(memory, n, fresh_memory::anything);
  const std::uint64_t half = n / 2;
  const auto copy = [&](std::uint64_t* to, const std::uint64_t* from, std::uint64_t count) {
    gpulog::backend::gpu::copy_async(to, from, count * sizeof(std::uint64_t),
                                     gpulog::backend::gpu::direction::device_to_device, stream);
  };
  hisa_for_each(space, n, random_pair{source.data()});
  copy(keys.data(), source.data(), n);
  copy(halves.data(), space.sort_keys(keys.data(), other.data(), half, 0, 64), half);
  copy(halves.data() + half, space.sort_keys(keys.data() + half, other.data(), n - half, 0, 64), n - half);
  // Positions: half of the elements are new, each after the old element of the same number.
  array<std::uint32_t> ranks(memory, n - half, fresh_memory::anything);
  array<std::uint32_t> positions(memory, half, fresh_memory::anything);
  array<std::uint32_t> merged(memory, n, fresh_memory::anything);
  hisa_for_each(space, n - half, number_word{ranks.data(), 0});
  hisa_for_each(space, half, number_word{positions.data(), 0});
  std::size_t bytes = 0;
  const auto path_merge = [&](void* temporary) {
    cub::DeviceMerge::MergeKeys(temporary, bytes, static_cast<const std::uint64_t*>(halves.data()),
                                static_cast<std::int64_t>(half),
                                static_cast<const std::uint64_t*>(halves.data() + half),
                                static_cast<std::int64_t>(n - half), keys.data(), cuda::std::less<>{}, stream);
  };
  path_merge(nullptr);
  array<std::uint8_t> temporary(memory, bytes + 1, fresh_memory::anything);
  const auto merge_ranks = [&] {
    const std::uint32_t* const splits = space.split(ranks.data(), n - half, n);
    merge_by_rank(space, ranks.data(), splits, n, array_element{positions.data()}, counted_element{0}, merged.data());
  };
  merge_ranks();  // allocates scratch memory and loads the kernels
  context.synchronize();

  operation_times times;
  stopwatch watch(stream);
  const double start = seconds_now();
  while (times.runs < 100 && (times.runs == 0 || seconds_now() - start < most_seconds)) {
    ++times.runs;
    copy(keys.data(), source.data(), n);
    watch.start();
    space.sort_keys(keys.data(), other.data(), n, 0, 64);
    watch.stop(times.sort);
    watch.start();
    path_merge(temporary.data());
    watch.stop(times.merge);
    watch.start();
    merge_ranks();
    watch.stop(times.merge_by_rank);
    const double before = seconds_now();
    void* const buffer = gpulog::backend::gpu::allocate(n * sizeof(std::uint64_t));
    gpulog::backend::gpu::fill_async(buffer, 1, n * sizeof(std::uint64_t), stream);
    context.synchronize();
    times.allocation += seconds_now() - before;
    gpulog::backend::gpu::deallocate(buffer);
  }
  return times;
}
