// Measures single kernels of the device: seconds by CUDA events, the minimum of bytes to move (random accesses as
// 32-byte sectors), and the rate of these bytes as a share of the device's copy rate.

#include <benchmark/benchmark.h>

#include <chrono>
#include <cstdint>
#include <memory>
#include <random>
#include <vector>

#include "backend/gpu/device.hpp"
#include "backend/gpu/launch.hpp"
#include "backend/gpu/staging_ring.hpp"
#include "exec/gpu/device_record_tables.hpp"
#include "exec/gpu/gpu_machine.hpp"

namespace {

using gpulog::word;
namespace kernels = gpulog::kernels;
namespace storage = gpulog::storage;
using gpulog::backend::array;
using gpulog::exec::gpu_machine;
using relation = gpu_machine::relation;

constexpr double sector = 32;

struct device {
  gpulog::backend::gpu::device_context context{0};
  gpulog::backend::gpu::device_memory memory{context, 0};
  gpulog::exec::device_record_tables records{context, memory};
  gpu_machine machine{context, memory, records, 1, gpulog::exec::cut_offs()};
};
device& the_device() {
  static device one;
  return one;
}

class stopwatch {
 public:
  stopwatch() {
    begin_ = gpulog::backend::gpu::make_event(gpulog::backend::gpu::event_kind::timed);
    end_ = gpulog::backend::gpu::make_event(gpulog::backend::gpu::event_kind::timed);
    gpulog::backend::gpu::record(begin_, the_device().context.stream());
  }
  ~stopwatch() {
    gpulog::backend::gpu::destroy(begin_);
    gpulog::backend::gpu::destroy(end_);
  }
  stopwatch(const stopwatch&) = delete;
  stopwatch& operator=(const stopwatch&) = delete;
  double stop() {
    gpulog::backend::gpu::record(end_, the_device().context.stream());
    gpulog::backend::gpu::synchronize(end_);
    return gpulog::backend::gpu::seconds_between(begin_, end_);
  }

 private:
  gpulog::backend::gpu::event_handle begin_ = nullptr;
  gpulog::backend::gpu::event_handle end_ = nullptr;
};

/// Returns the rate of a copy within device memory, in bytes per second, read and written.
double copy_rate() {
  static const double rate = [] {
    constexpr std::uint64_t bytes = 1ULL << 30;
    array<std::uint8_t> from(the_device().memory, bytes);
    array<std::uint8_t> to(the_device().memory, bytes);
    double best = 1e9;
    for (int i = 0; i < 5; ++i) {
      stopwatch time;
      gpulog::backend::gpu::copy_async(to.data(), from.data(), bytes, gpulog::backend::gpu::direction::device_to_device,
                                       the_device().context.stream());
      best = std::min(best, time.stop());
    }
    return 2.0 * static_cast<double>(bytes) / best;
  }();
  return rate;
}

void report(benchmark::State& state, double bytes, double items) {
  const auto runs = static_cast<double>(state.iterations());
  state.counters["items/s"] = benchmark::Counter(items * runs, benchmark::Counter::kIsRate);
  state.counters["GB/s"] = benchmark::Counter(bytes * runs / 1e9, benchmark::Counter::kIsRate);
  state.counters["of_copy"] = benchmark::Counter(bytes * runs / copy_rate(), benchmark::Counter::kIsRate);
}

using columns = std::vector<std::vector<word>>;

std::unique_ptr<relation> make_relation(const columns& rows) {
  auto made = the_device().machine.make_relation(static_cast<std::uint32_t>(rows.size()), {});
  std::vector<const word*> pointers;
  for (const auto& column : rows) pointers.push_back(column.data());
  the_device().machine.load_rows(*made, pointers, rows.front().size());
  made->complete();
  return made;
}

void copy(benchmark::State& state) {
  const auto bytes = static_cast<std::uint64_t>(state.range(0));
  array<std::uint8_t> from(the_device().memory, bytes);
  array<std::uint8_t> to(the_device().memory, bytes);
  for (auto _ : state) {
    stopwatch time;
    gpulog::backend::gpu::copy_async(to.data(), from.data(), bytes, gpulog::backend::gpu::direction::device_to_device,
                                     the_device().context.stream());
    state.SetIterationTime(time.stop());
  }
  report(state, 2.0 * static_cast<double>(bytes), static_cast<double>(bytes));
}
BENCHMARK(copy)->Arg(1 << 20)->Arg(1 << 30)->UseManualTime();

__global__ void do_nothing() {}
__global__ void write_value(volatile std::uint64_t* to, std::uint64_t value) {
  __threadfence_system();
  *to = value;
}

/// Launches empty kernels one after another: the cost of a launch on the host.
void launch(benchmark::State& state) {
  for (auto _ : state)
    gpulog::backend::gpu::launch(GPULOG_KERNEL(do_nothing), {1, 32, 0, the_device().context.stream()});
  the_device().context.synchronize();
}
BENCHMARK(launch)->UseRealTime();

/// Launches a kernel and polls until the kernel's report appears in pinned memory: one round trip of an iteration.
void launch_and_poll(benchmark::State& state) {
  std::uint64_t* const report = gpulog::backend::gpu::allocate_pinned<std::uint64_t>(1);
  *report = 0;
  std::uint64_t number = 0;
  for (auto _ : state) {
    gpulog::backend::gpu::launch(GPULOG_KERNEL(write_value), {1, 1, 0, the_device().context.stream()}, report,
                                 ++number);
    the_device().context.wait_for_value(*report, number);
  }
  gpulog::backend::gpu::deallocate_pinned(report);
}
BENCHMARK(launch_and_poll)->UseRealTime();

/// The same round trip, with a copy of a counter and a synchronization of the stream.
void launch_and_read_back(benchmark::State& state) {
  array<std::uint64_t> counter(the_device().memory, 1);
  std::uint64_t number = 0;
  for (auto _ : state) {
    gpulog::backend::gpu::launch(GPULOG_KERNEL(write_value), {1, 1, 0, the_device().context.stream()}, counter.data(),
                                 ++number);
    benchmark::DoNotOptimize(the_device().context.read_counter(counter.data()));
  }
}
BENCHMARK(launch_and_read_back)->UseRealTime();

/// Allocates and frees device memory of the driver. Argument: MiB.
void driver_memory(benchmark::State& state) {
  const auto bytes = static_cast<std::size_t>(state.range(0)) << 20;
  double freeing = 0;
  double runs = 0;
  for (auto _ : state) {
    void* const memory = gpulog::backend::gpu::allocate(bytes);
    const auto begin = std::chrono::steady_clock::now();
    gpulog::backend::gpu::deallocate(memory);
    freeing += std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    ++runs;
  }
  state.counters["freeing_us"] = freeing / runs * 1e6;
}
BENCHMARK(driver_memory)->Arg(1)->Arg(64)->Arg(1024)->Arg(8192)->UseRealTime();

/// Allocates and frees pinned host memory. Argument: MiB.
void pinned_memory(benchmark::State& state) {
  for (auto _ : state) {
    void* const memory = gpulog::backend::gpu::allocate_pinned_bytes(static_cast<std::uint64_t>(state.range(0)) << 20);
    gpulog::backend::gpu::deallocate_pinned(memory);
  }
}
BENCHMARK(pinned_memory)->Arg(1)->Arg(32)->UseRealTime();

/// Copies columns between host and device. Arguments: MiB; 0 for pageable copies by the driver, 1 for the ring of
/// pinned buffers; 0 to the device, 1 from the device.
void bus(benchmark::State& state) {
  const auto words = static_cast<std::uint64_t>(state.range(0)) << 18;
  const bool pinned = state.range(1) == 1;
  const bool up = state.range(2) == 0;
  std::vector<word> host(words, 1);
  array<word> there(the_device().memory, words);
  const auto& context = the_device().context;
  for (auto _ : state) {
    if (!pinned) {
      gpulog::backend::gpu::copy_async(
          up ? there.data() : host.data(), up ? host.data() : there.data(), words * sizeof(word),
          up ? gpulog::backend::gpu::direction::host_to_device : gpulog::backend::gpu::direction::device_to_host,
          context.stream());
    } else if (up) {
      context.staging().upload(host.data(), there.data(), words * sizeof(word));
    } else {
      gpulog::backend::gpu::download(context, there.data(), host.data(), words);
    }
    context.synchronize();
  }
  state.SetBytesProcessed(static_cast<std::int64_t>(state.iterations() * words * sizeof(word)));
}
BENCHMARK(bus)->ArgNames({"MiB", "pinned", "from"})->ArgsProduct({{1, 256}, {0, 1}, {0, 1}})->UseRealTime();

/// out(x...) :- in(x...), where `out` already contains some of the tuples. Arguments: rows, arity, percent new.
void insert(benchmark::State& state) {
  const auto rows = static_cast<std::uint64_t>(state.range(0));
  const auto arity = static_cast<std::uint32_t>(state.range(1));
  const auto percent = static_cast<std::uint64_t>(state.range(2));
  std::mt19937_64 random(7);
  columns all(arity);
  columns known(arity);
  for (std::uint64_t row = 0; row < rows; ++row) {
    const std::uint64_t number = row * 0x9e3779b97f4a7c15ULL;
    const bool fresh = random() % 100 < percent;
    for (std::uint32_t c = 0; c < arity; ++c) {
      const auto value = static_cast<word>(c == 0 ? number >> 32 : (number & 0xffffffU) + c);
      all[c].push_back(value);
      if (!fresh) known[c].push_back(value);
    }
  }
  const auto fresh = static_cast<double>(rows - known[0].size());
  kernels::relation_list<relation> relations;
  relations.push_back(make_relation(all));
  relations.emplace_back();
  kernels::pipeline program;
  kernels::segment& scan = program.segments.emplace_back();
  scan.kind = kernels::expansion_kind::scan;
  program.slot_count = arity;
  program.target = 1;
  for (std::uint32_t c = 0; c < arity; ++c) {
    scan.bindings.push_back({c, c});
    program.head.push_back(c);
  }
  for (auto _ : state) {
    relations[1] = known[0].empty() ? the_device().machine.make_relation(arity, {}) : make_relation(known);
    relations[1]->grow(rows, false);
    the_device().context.synchronize();
    stopwatch time;
    the_device().machine.run(program, relations, rows, static_cast<double>(rows), nullptr);
    state.SetIterationTime(time.stop());
  }
  const double tuple = 4.0 * arity;
  // Each candidate reads its tuple and its slot; a new tuple writes the slot and the columns; a wide duplicate reads
  // the equal tuple.
  double bytes = static_cast<double>(rows) * (tuple + sector) + fresh * (sector + tuple);
  if (arity > 2) bytes += static_cast<double>(rows) * 2 * tuple + (static_cast<double>(rows) - fresh) * arity * sector;
  report(state, bytes, static_cast<double>(rows));
}
BENCHMARK(insert)
    ->ArgNames({"rows", "arity", "new"})
    ->ArgsProduct({{1 << 16, 1 << 24}, {1, 2, 3, 5}, {0, 50, 100}})
    ->Iterations(5)
    ->UseManualTime();

/// out() :- probe(x, _), data(x, y). Arguments: keys, rows per key, percent of probes that find their key, percent of
/// probes that share one key (skew).
void match(benchmark::State& state) {
  const auto keys = static_cast<word>(state.range(0));
  const auto rows_a_key = static_cast<word>(state.range(1));
  const auto found_percent = static_cast<std::uint64_t>(state.range(2));
  const auto skew = static_cast<std::uint64_t>(state.range(3));
  constexpr std::uint64_t probes = 1 << 22;
  std::mt19937_64 random(3);
  columns data(2);
  for (word row = 0; row < keys * rows_a_key; ++row) {
    data[0].push_back(row % keys);
    data[1].push_back(row);
  }
  columns probe(2);
  double matches = 0;
  for (word row = 0; row < probes; ++row) {
    const bool found = random() % 100 < found_percent;
    const word key = random() % 100 < skew ? 0 : static_cast<word>(random() % keys);
    probe[0].push_back(found ? key : key + keys);
    probe[1].push_back(row);
    matches += found ? rows_a_key : 0;
  }
  kernels::relation_list<relation> relations;
  relations.push_back(make_relation(probe));
  relations.push_back(make_relation(data));
  relations.push_back(the_device().machine.make_relation(0, {}));
  storage::index_layout layout;
  layout.order = {0, 1};
  layout.key_lengths = {1};
  layout.stored = {1};
  relations[1]->add_index(layout);
  relations[1]->refresh_index(0);
  kernels::pipeline program;
  kernels::segment& scan = program.segments.emplace_back();
  scan.kind = kernels::expansion_kind::scan;
  scan.bindings = {{0, 0}};
  kernels::segment& join = program.segments.emplace_back();
  join.kind = kernels::expansion_kind::match;
  join.source = 1;
  join.keys = {0};
  join.bindings = {{1, 0}};
  program.slot_count = 2;
  program.target = 2;
  for (auto _ : state) {
    stopwatch time;
    the_device().machine.run(program, relations, probes, matches, nullptr);
    state.SetIterationTime(time.stop());
  }
  // The sector of the lookup, its range and offset written and read, and the matching values.
  report(state, static_cast<double>(probes) * (4 + sector + 2 * 16) + 4 * matches, probes + matches);
}
BENCHMARK(match)
    ->ArgNames({"keys", "rows", "found", "skew"})
    ->Args({1 << 20, 1, 100, 0})
    ->Args({1 << 20, 4, 100, 0})
    ->Args({1 << 20, 4, 10, 0})
    ->Args({1 << 14, 64, 100, 0})
    ->Args({1 << 14, 64, 100, 50})
    ->UseManualTime();

/// Builds an index on the first of two columns. Argument: rows; more than 2048, because smaller runs are deferred and
/// built together.
void index_build(benchmark::State& state) {
  const auto rows = static_cast<std::uint64_t>(state.range(0));
  std::mt19937_64 random(5);
  columns data(2);
  for (std::uint64_t row = 0; row < rows; ++row) {
    data[0].push_back(static_cast<word>(random() % (rows / 4 + 1)));
    data[1].push_back(static_cast<word>(row));
  }
  const auto source = make_relation(data);
  storage::index_layout layout;
  layout.order = {0, 1};
  layout.key_lengths = {1};
  layout.stored = {1};
  source->add_index(layout);
  for (auto _ : state) {
    source->drop_index(0);
    the_device().context.synchronize();
    stopwatch time;
    source->refresh_index(0);
    state.SetIterationTime(time.stop());
  }
  // A radix sort of 32-bit keys and rows in four passes, a gather of keys before and of values after the sort, and the
  // search for group starts.
  report(state, static_cast<double>(rows) * (4 * 16 + 4 + 8 + sector + 8 + sector + 4), static_cast<double>(rows));
}
BENCHMARK(index_build)->Arg(1 << 12)->Arg(1 << 16)->Arg(1 << 20)->Arg(1 << 25)->UseManualTime();

/// Grows a set and its two columns to the next size. Argument: rows.
void grow(benchmark::State& state) {
  const auto rows = static_cast<std::uint64_t>(state.range(0));
  columns data(2);
  for (std::uint64_t row = 0; row < rows; ++row) {
    data[0].push_back(static_cast<word>(row));
    data[1].push_back(static_cast<word>(row * 7));
  }
  double slots = 0;
  for (auto _ : state) {
    const auto source = make_relation(data);
    const auto before = static_cast<double>(source->set().capacity);
    the_device().context.synchronize();
    stopwatch time;
    source->grow(source->room() + 1, false);
    state.SetIterationTime(time.stop());
    slots = 3 * before + 2 * (static_cast<double>(source->set().capacity) - before);
    source->release_outgrown();
  }
  // Reads the old slots, clears and writes the new slots, and copies the columns.
  report(state, slots * 8 + static_cast<double>(rows) * 16, static_cast<double>(rows));
}
BENCHMARK(grow)->Arg(1 << 16)->Arg(1 << 25)->Iterations(5)->UseManualTime();

}  // namespace

BENCHMARK_MAIN();
